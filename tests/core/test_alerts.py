"""Which alerts hold, and in which order."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.alerts.detection import (
    AlertThresholds,
    DeadWaiting,
    FloorFacts,
    HeldKind,
    Hold,
    OffDuty,
    Overdue,
    PinnedWorker,
    SilentWorker,
    SnapshotHeld,
    Unserved,
    decide_alerts,
)
from tasks_app.core.facts import Breaker, KindPolicy, StrategyName, WorkerFacts

SORTS = (
    OffDuty,
    Unserved,
    SilentWorker,
    HeldKind,
    SnapshotHeld,
    Overdue,
    PinnedWorker,
    DeadWaiting,
)
RANK = {sort: rank for rank, sort in enumerate(SORTS)}


def worker(number: int, active: int, queued: float, *kinds: str) -> WorkerFacts:
    return WorkerFacts(
        UUID(int=number), f"w{number}", 1, dict.fromkeys(kinds or ("seed",), 1.0), active, queued
    )


def facts(**changed: object) -> FloorFacts:
    values: dict[str, object] = {
        "last_round_age": 0.3,
        "silent_after": 15.0,
        "workers": [],
        "held": {},
        "kinds": {},
        "unserved": [],
        "dead": 0,
        **changed,
    }
    return FloorFacts(**values)  # type: ignore[arg-type]  # the test names only what it changes


def test_a_floor_without_trouble_has_no_alert() -> None:
    assert decide_alerts(facts(workers=[worker(1, 1, 2.0), worker(2, 1, 2.0)])) == []


@pytest.mark.parametrize(("age", "alerts"), [(15.0, []), (15.1, [OffDuty(15.1)])])
def test_a_supervisor_is_off_duty_past_the_silence_allowed(
    age: float, alerts: list[OffDuty]
) -> None:
    assert decide_alerts(facts(last_round_age=age)) == alerts


def test_a_supervisor_that_never_was_is_off_duty() -> None:
    assert decide_alerts(facts(last_round_age=None)) == [OffDuty(None)]


def test_a_pinned_worker_is_explained_by_the_kind_that_is_handed_out_blindly() -> None:
    found = decide_alerts(
        facts(
            workers=[worker(1, 3, 30.0), worker(2, 0, 0.0), worker(3, 0, 0.0)],
            held={"w1": ["careful", "seed"]},
            kinds={
                "careful": KindPolicy("careful", StrategyName.LEAST_LOADED),
                "seed": KindPolicy("seed", StrategyName.ROUND_ROBIN),
            },
        )
    )
    (alert,) = found
    assert isinstance(alert, PinnedWorker)
    assert (alert.pinned.name, alert.kind, alert.strategy, alert.blind) == (
        "w1",
        "seed",
        "round_robin",
        True,
    )
    assert alert.pinned.idle == ["w2", "w3"]


def test_a_pinned_worker_of_a_careful_strategy_is_told_without_blame() -> None:
    (alert,) = decide_alerts(
        facts(
            workers=[worker(1, 3, 30.0), worker(2, 0, 0.0)],
            held={"w1": ["seed"]},
            kinds={"seed": KindPolicy("seed", StrategyName.LEAST_LOADED)},
        )
    )
    assert isinstance(alert, PinnedWorker)
    assert not alert.blind


def test_a_pinned_worker_whose_kinds_are_gone_is_still_told() -> None:
    (alert,) = decide_alerts(facts(workers=[worker(1, 3, 30.0), worker(2, 0, 0.0)]))
    assert isinstance(alert, PinnedWorker)
    assert (alert.kind, alert.strategy, alert.blind) == ("", "", False)


@pytest.mark.parametrize(("seconds", "told"), [(60.0, False), (60.1, True)])
def test_a_transaction_is_told_once_it_has_been_open_for_a_minute(
    seconds: float, told: bool
) -> None:
    held = SnapshotHeld(7, "psql", "idle in transaction", seconds)
    assert decide_alerts(facts(oldest_snapshot=held)) == [held] * told


@given(
    age=st.none() | st.floats(0, 100),
    unserved=st.lists(st.sampled_from(["a", "b"]), max_size=2),
    loads=st.lists(st.integers(0, 4), max_size=6),
    dead=st.integers(0, 3),
    open_for=st.none() | st.floats(0, 120),
)
def test_alerts_come_once_each_and_the_worst_first(
    age: float | None, unserved: list[str], loads: list[int], dead: int, open_for: float | None
) -> None:
    workers = [worker(n, load, 10.0 * load) for n, load in enumerate(loads)]
    held = None if open_for is None else SnapshotHeld(7, "psql", "active", open_for)
    found = decide_alerts(
        facts(
            last_round_age=age, unserved=unserved, workers=workers, dead=dead, oldest_snapshot=held
        )
    )
    ranks = [RANK[type(alert)] for alert in found]
    assert ranks == sorted(set(ranks))
    assert (RANK[DeadWaiting] in ranks) is (dead > 0)
    assert (RANK[SnapshotHeld] in ranks) is (open_for is not None and open_for > 60)
    assert (RANK[Unserved] in ranks) is bool(unserved)


def test_a_kind_that_is_held_back_is_an_alert_only_while_tasks_wait_for_it() -> None:
    kinds = {
        "a": KindPolicy("a", paused=True),
        "b": KindPolicy("b", paused=True, quarantined=True),
        "c": KindPolicy("c", breaker=Breaker.OPEN),
        "d": KindPolicy("d", paused=True),
        "e": KindPolicy("e"),
    }
    found = decide_alerts(facts(kinds=kinds, waiting={"a", "b", "c", "e"}))
    assert isinstance(found[0], HeldKind)
    assert found == [
        HeldKind("b", Hold.QUARANTINE),
        HeldKind("c", Hold.BREAKER),
        HeldKind("a", Hold.PAUSE),
    ]
    assert found[0].query == "kind:b status:pending"


def test_of_many_silent_workers_those_silent_for_longest_are_named() -> None:
    silent = [SilentWorker(UUID(int=n), f"w{n}", 30.0 + n, 0) for n in range(9)]
    found = decide_alerts(facts(silent=silent))
    assert [each.worker for each in found if isinstance(each, SilentWorker)] == [
        "w8",
        "w7",
        "w6",
        "w5",
        "w4",
    ]


def test_a_threshold_says_from_where_on_an_alert_stands() -> None:
    limits = AlertThresholds(
        dead_at_least=10, oldest_seconds=60, pinned_seconds=30, snapshot_seconds=5
    )
    pinned = [worker(1, 3, 20.0), worker(2, 0, 0.0), worker(3, 0, 0.0)]
    quiet = {"dead": 9, "oldest_age": 60.0, "workers": pinned, "thresholds": limits}
    assert decide_alerts(facts(**quiet)) == []
    loud = {**quiet, "dead": 10, "oldest_age": 61.0, "workers": [worker(1, 3, 30.0), *pinned[1:]]}
    assert [type(each) for each in decide_alerts(facts(**loud))] == [
        Overdue,
        PinnedWorker,
        DeadWaiting,
    ]


def test_by_default_a_task_may_wait_for_ever() -> None:
    assert decide_alerts(facts(oldest_age=1e9)) == []
