"""Previews of limits, of the queue and of alerts: exact figures, whatever the past was."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.actions.payload_previews import preview_result_schema
from tasks_app.core.alerts.detection import SnapshotHeld
from tasks_app.core.dispatch.advice import Pinned
from tasks_app.core.settings.alert_previews import (
    DAY,
    AlertsPast,
    Minute,
    Told,
    beginnings,
    preview_alerts,
    preview_rule,
)
from tasks_app.core.settings.limit_previews import (
    Held,
    JoinPast,
    preview_join,
    preview_leave,
    waits_under,
)
from tasks_app.core.settings.queue_previews import (
    Overruns,
    Queue,
    Unroutable,
    preview_head_start,
    preview_timeout_grace,
    preview_unroutable,
    preview_window,
)

LIMIT: Mapping[str, Any] = {"max_concurrent": None, "rate_per_second": None, "burst": 1.0}
THRESHOLDS: Mapping[str, Any] = {
    "dead_at_least": 1,
    "oldest_seconds": None,
    "pinned_seconds": 0.0,
    "snapshot_seconds": 60.0,
}
RULE: Mapping[str, Any] = {"sent": True, "repeat_minutes": 60.0}


def joined(past: JoinPast, **limit: Any) -> str:
    return " ".join(preview_join(past, "mail", {**LIMIT, **limit}))


def test_a_limit_tells_what_must_end_first_and_what_would_have_waited() -> None:
    others = [Held(at, 5.0, joins=False) for at in (0.0, 1.0)]
    past = JoinPast([*others, Held(2.0, 5.0), Held(20.0, 5.0)], under=2, joining=1)
    assert joined(past, max_concurrent=2.0) == (
        "limit mail: at most 2 at once; its kinds hold 2 now, this one holds 1, so 1 must end "
        "before anything starts. Of the 2 attempts of the last day 1 would have waited for it, "
        "for 3 s."
    )
    assert "None of the 2 attempts of the last day would have waited" in joined(
        past, max_concurrent=3.0
    )
    assert "it has no cap" in joined(past)


def test_a_rate_makes_a_burst_wait_its_turn() -> None:
    past = JoinPast([Held(0.0, 0.1) for _ in range(4)])
    told = joined(past, rate_per_second=2.0, burst=2.0)
    assert "Of the 4 attempts of the last day 2 would have waited for it, up to 1 s." in told


def test_a_kind_that_never_ran_is_told_so_and_one_that_leaves_too() -> None:
    assert "Nothing ran lately" in joined(JoinPast(), max_concurrent=2.0)
    assert preview_leave(JoinPast(joining=3)).startswith("limit: none;")


@given(
    st.lists(
        st.builds(
            Held,
            st.floats(0, 100),
            st.floats(0, 30),
            st.floats(0.1, 5),
            st.booleans(),
        ),
        max_size=30,
    ),
    st.floats(0.5, 8),
)
def test_a_wider_limit_makes_nobody_wait_longer(attempts: list[Held], most: float) -> None:
    narrow, wide = (sum(waits_under(attempts, cap, None, 1.0)) for cap in (most, most * 100))
    assert 0 <= wide <= narrow
    assert len(waits_under(attempts, most, None, 1.0)) == sum(each.joins for each in attempts)


def test_a_head_start_tells_where_a_task_of_priority_one_would_stand() -> None:
    before, after = ({"priority_head_start_seconds": each} for each in (60.0, 300.0))
    told = preview_head_start(Queue([10.0, 100.0, 1000.0], latest=200, raised=3), before, after)
    assert "stands ahead of 2 of 3 ready tasks (now 1)" in told
    assert told.endswith("Of the latest 200 tasks 3 have a priority other than 0.")
    assert "nothing is ready" in preview_head_start(Queue([]), before, after)


def test_a_window_tells_what_a_round_would_not_look_at() -> None:
    before, after = {"window": 2000}, {"window": 100}
    told = preview_window({"mail": 150, "call": 120, "fax": 3}, 10_000, before, after)
    assert told == (
        "window 100: of 273 ready tasks a round would not look at 70 (now 0), most of them mail."
    )
    assert "look at every one (left out now: 70)" in preview_window(
        {"mail": 150, "call": 120}, 10_000, after, before
    )
    assert "10,000+ ready tasks" in preview_window({"mail": 10_000}, 10_000, before, after)


def test_a_grace_tells_what_would_be_dead_at_once() -> None:
    before, after = ({"unroutable_grace_seconds": each} for each in (86_400.0, 600.0))
    told = preview_unroutable(Unroutable({"fax": [700.0, 900.0], "x": [5.0]}, 4), before, after)
    assert "of 3 ready tasks that no worker ever could do, 2 are dead at once (now 0)" in told
    assert told.endswith("kinds: fax, x. 4 dead letters of the last day are there for it.")
    assert "there is no ready task" in preview_unroutable(Unroutable({}), before, after)


def test_a_shorter_timeout_grace_tells_whom_the_supervisor_would_overtake() -> None:
    before, after = ({"timeout_grace_seconds": each} for each in (10.0, 1.0))
    told = preview_timeout_grace(Overruns([0.2, 3.0, 11.0], [2.0, 0.5]), before, after)
    assert "of 3 attempts stopped for their timeout within a day, 2 ran on for longer" in told
    assert "(now 1). 1 that is running now is past it" in told


def test_a_result_schema_tells_how_many_results_it_would_not_have_taken() -> None:
    assert preview_result_schema(20, ["approved: Fill this in", "why"]) == (
        "result schema: 2 of 20 results of the last day would not have been taken, the latest: "
        "approved: Fill this in."
    )
    assert "take all of the 5 results" in preview_result_schema(5, [])
    assert "got a result within a day" in preview_result_schema(0, [])


def alerts(past: AlertsPast, **changed: Any) -> str:
    return " ".join(preview_alerts(past, THRESHOLDS, {**THRESHOLDS, **changed}))


MINUTES = [
    Minute(3 * DAY, 9, None),
    Minute(2 * DAY, 0, 50.0),
    Minute(900.0, 1, 700.0),
    Minute(600.0, 6, 5.0),
    Minute(300.0, 2, 700.0),
]


def test_a_threshold_tells_how_often_it_would_have_begun() -> None:
    told = alerts(AlertsPast(2, None, minutes=MINUTES), dead_at_least=5)
    assert "there are 2 dead letters, so the alert would not stand now" in told
    assert "1 within a day (now 1), 2 in the 3 days on record (now 2)" in told
    told = alerts(AlertsPast(0, 5.0, minutes=MINUTES), oldest_seconds=600.0)
    assert "waited for 5 s, so the alert would not stand now" in told
    assert "2 within a day (now 0), 2 in the 3 days on record (now 0)" in told


def test_a_threshold_without_samples_says_so_and_one_taken_away_tells_nothing_more_comes() -> None:
    assert "No minute is on record yet" in alerts(AlertsPast(1, None), dead_at_least=5)
    before = {**THRESHOLDS, "oldest_seconds": 600.0}
    (told,) = preview_alerts(AlertsPast(0, 5.0, minutes=MINUTES), before, THRESHOLDS)
    assert told.startswith("oldest: no alert")
    assert "0 within a day (now 2)" in told


@pytest.mark.parametrize(("seconds", "stands"), [(20.0, "would stand"), (40.0, "would not stand")])
def test_what_stands_only_now_is_told_of_now(seconds: float, stands: str) -> None:
    past = AlertsPast(
        0,
        None,
        pinned=Pinned("w1", 30.0, 4, ["w2"]),
        snapshot=SnapshotHeld(7, "psql", "idle in transaction", 30.0),
    )
    told = alerts(past, pinned_seconds=seconds, snapshot_seconds=seconds)
    assert told.count(f"so the alert {stands} now") == 2
    assert alerts(AlertsPast(0, None), pinned_seconds=5.0, snapshot_seconds=5.0) == (
        "pinned 5 s: no worker is pinned now. snapshot 5 s: no transaction is open now."
    )


@given(st.lists(st.integers(0, 5), max_size=40), st.integers(1, 5))
def test_an_alert_never_begins_twice_without_ending(dead: list[int], most: int) -> None:
    minutes = [Minute(0.0, each, None) for each in dead]
    begun = beginnings(minutes, lambda each: each.dead >= most)
    assert begun <= (len(dead) + 1) // 2
    assert (begun > 0) == any(each >= most for each in dead)


def test_a_rule_tells_what_would_not_have_been_sent() -> None:
    told = Told({"silent:w1": [0.0, 4000.0, 9000.0], "silent:w2": [0.0]}, standing=2)
    off = " ".join(preview_rule(told, RULE, {**RULE, "sent": False}))
    assert off == "not sent: 4 messages of the last week would not have gone out."
    longer = " ".join(preview_rule(told, RULE, {**RULE, "repeat_minutes": 120.0}))
    assert "repeat after 2 h: of 4 messages within a week, 1 would not have been sent" in longer
    shorter = " ".join(preview_rule(told, RULE, {**RULE, "repeat_minutes": 5.0}))
    assert "0 would not have been sent. What was kept back for 60 min is not on record" in shorter
    on = " ".join(preview_rule(told, {**RULE, "sent": False}, RULE))
    assert "2 of this alert stand now" in on


def test_what_is_not_changed_is_not_told() -> None:
    assert alerts(AlertsPast(1, 1.0, minutes=MINUTES)) == ""
    assert not list(preview_rule(Told(), RULE, RULE))
