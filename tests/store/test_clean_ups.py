"""No clean-up deletes more rows at once than its bound; the next one deletes more."""

from collections.abc import Callable, Mapping
from typing import Final

import pytest

from tasks_app.store import alerting, sql
from tasks_app.store.dispatch import breakers, dispatch, leader, sampling
from tasks_app.store.people import request_rates
from tasks_app.store.settings import pruning

OLD: Final[Mapping[str, tuple[str, Callable[[], object]]]] = {
    "shift": (
        (
            "INSERT INTO shift (epoch, holder, began_at)"
            " SELECT n, 'h', now() - interval '1 year' FROM generate_series(1, 5) n"
        ),
        leader.prune_shifts,
    ),
    "replica": (
        (
            "INSERT INTO replica (holder, seen_at)"
            " SELECT n, now() - interval '1 year' FROM generate_series(1, 5) n"
        ),
        leader.prune_shifts,
    ),
    "sample": (
        (
            "INSERT INTO sample (resolution, at, by_status, active, rounds, dispatched, completed,"
            "                    busy_seconds, dispatch_seconds)"
            " SELECT 60, now() - n * interval '1 year', '{}', '{}', 0, 0, 0, 0, 0"
            "   FROM generate_series(1, 5) n"
        ),
        sampling.roll_up_minutes,
    ),
    "job_turn": (
        (
            "INSERT INTO kind (name) VALUES ('job');"
            "INSERT INTO job_turn (kind_id, priority, job_id, at)"
            " SELECT 'job', 0, gen_random_uuid(), now() - interval '1 year'"
            "   FROM generate_series(1, 5)"
        ),
        dispatch.forget_turns,
    ),
    "request_rate": (
        (
            "INSERT INTO request_rate (subject, remaining, at)"
            " SELECT n, 0, now() - interval '1 year' FROM generate_series(1, 5) n"
        ),
        request_rates.forget_idle,
    ),
    "pruned": (
        (
            "INSERT INTO pruned (hour, what, rows, seconds)"
            " SELECT now() - n * interval '1 year', 'completed', 1, 1 FROM generate_series(1, 5) n"
        ),
        pruning.forget_notes,
    ),
    "alert_state": (
        (
            "INSERT INTO alert_state (key, name, began_at, ended_at)"
            " SELECT n, 'no_leader', now() - interval '2 years', now() - interval '1 year'"
            "   FROM generate_series(1, 5) n"
        ),
        alerting.forget,
    ),
    "alert_delivery": (
        (
            "INSERT INTO alert_channel (name, kind, address)"
            " VALUES ('c', 'webhook', 'https://example.com');"
            "INSERT INTO alert_delivery (id, channel_id, key, event, began_at, body, created_at)"
            " SELECT gen_random_uuid(), 'c', n, 'began', now() - interval '1 year', '{}',"
            "        now() - interval '1 year' FROM generate_series(1, 5) n"
        ),
        alerting.forget,
    ),
    "breaker_state": (
        (
            "INSERT INTO breaker_state (scope, name, state)"
            " SELECT 'kind', n, 'open' FROM generate_series(1, 5) n"
        ),
        breakers.forget_breakers,
    ),
}


@pytest.mark.parametrize("table", OLD)
def test_a_clean_up_deletes_a_bounded_number_of_rows_and_the_next_goes_on(
    record: None, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    monkeypatch.setattr(sql, "CLEARED_AT_ONCE", 2)
    fill, clean_up = OLD[table]
    sql.execute(fill)
    left = []
    for _ in range(3):
        clean_up()
        left.append(sql.rows(f"SELECT count(*) FROM {table}")[0][0])
    assert left == [3, 1, 0]
