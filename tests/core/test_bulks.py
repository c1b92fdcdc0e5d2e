"""Bulks: what may be ordered, how waves follow each other, when a canary stops."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.actions.bulks import (
    BATCH,
    WAVES,
    BulkAction,
    BulkOrder,
    Sent,
    Verdict,
    judge_wave,
    next_batch,
    order_faults,
    to_watch,
    wave_end,
    wave_of,
)
from tasks_app.core.dispatch.drain_time import drain_time
from tasks_app.core.facts import WorkerFacts
from tasks_app.core.states import Status

NOW = datetime(2026, 5, 4, tzinfo=UTC)
SENT = st.builds(Sent, st.just("t"), st.sampled_from(Status), st.booleans())
TOTALS = st.integers(min_value=1, max_value=3000)


@given(TOTALS, st.booleans())
def test_batches_cover_every_item_once_and_none_crosses_a_wave(total: int, canary: bool) -> None:
    place, sizes = 0, []
    while place < total:
        end = next_batch(place, total, canary=canary)
        assert place < end <= min(total, place + BATCH)
        if canary:
            assert wave_of(place) == wave_of(end - 1)
        sizes.append(end - place)
        place = end
    if canary and total > sum(WAVES):
        assert tuple(sizes[: len(WAVES)]) == WAVES


@given(TOTALS, st.integers(min_value=0, max_value=2))
def test_a_wave_ends_where_the_next_begins(total: int, wave: int) -> None:
    end = wave_end(wave, total)
    assert end <= total
    assert end == total or wave_of(end) == wave + 1


@given(st.lists(SENT, max_size=11), st.booleans())
def test_an_error_that_came_back_always_stops(sent: list[Sent], last: bool) -> None:
    verdict, why = judge_wave(sent, last=last)
    if any(task.came_back for task in sent):
        assert verdict is Verdict.STOP
        assert "came back" in why
    if verdict is Verdict.GO_ON and sent and not last:
        assert any(task.status is Status.COMPLETED for task in sent)
    assert bool(why) == (verdict is Verdict.STOP)


def watched_run(total: int, bad: int | None) -> tuple[str, set[int], int]:
    """Play a canary whose every task ends at once, ``bad`` with the old error.

    Returns how it ended, the places that were watched, and how many were sent.
    """
    place, watched, seen = 0, 0, set[int]()
    for _ in range(10 * total + 10):
        look = to_watch(place, watched, total)
        if look is not None:
            seen |= set(range(*look))
            wave = [Sent(f"t{n}", Status.COMPLETED, came_back=n == bad) for n in range(*look)]
            verdict, _ = judge_wave(wave, last=place == total)
            if verdict is Verdict.STOP:
                return "came back" if place == total else "stopped", seen, place
            watched = look[1]
        elif place == total:
            return "done", seen, place
        else:
            place = next_batch(place, total, canary=True)
    raise AssertionError("it never ends")


@given(TOTALS)
def test_a_canary_of_any_size_watches_every_task_that_it_sent(total: int) -> None:
    assert watched_run(total, None) == ("done", set(range(total)), total)


@given(st.data())
def test_an_error_that_comes_back_is_told_in_whichever_wave_it_does(data: st.DataObject) -> None:
    total = data.draw(TOTALS)
    bad = data.draw(st.integers(0, total - 1))
    how, seen, out = watched_run(total, bad)
    assert bad in seen
    assert out == wave_end(wave_of(bad), total), "nothing of a later wave"
    assert how == ("came back" if out == total else "stopped")


def sent(*statuses: Status) -> list[Sent]:
    return [Sent(f"t{n}", status, came_back=False) for n, status in enumerate(statuses)]


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        ((Status.COMPLETED,), Verdict.GO_ON),
        ((Status.PENDING,), Verdict.WAIT),
        ((Status.COMPLETED, Status.RUNNING), Verdict.WAIT),
        ((Status.COMPLETED, Status.FAILED), Verdict.WAIT),
        ((Status.DEAD,), Verdict.STOP),
        ((Status.CANCELLED, Status.DEAD), Verdict.STOP),
        ((Status.COMPLETED, Status.DEAD), Verdict.GO_ON),
        ((), Verdict.GO_ON),
    ],
)
def test_a_wave_is_waited_for_and_something_of_it_must_complete(
    statuses: tuple[Status, ...], verdict: Verdict
) -> None:
    assert judge_wave(sent(*statuses), last=False)[0] is verdict


def test_behind_the_last_wave_nothing_is_left_to_stop() -> None:
    assert judge_wave(sent(Status.CANCELLED, Status.DEAD), last=True)[0] is Verdict.GO_ON
    assert judge_wave(sent(Status.COMPLETED, Status.RUNNING), last=True)[0] is Verdict.WAIT


@pytest.mark.parametrize(
    ("order", "field"),
    [
        (BulkOrder(BulkAction.DISMISS, reason="  "), "reason"),
        (BulkOrder(BulkAction.CANCEL), "reason"),
        (BulkOrder(BulkAction.PRIORITY), "priority"),
        (BulkOrder(BulkAction.PRIORITY, priority=1001), "priority"),
        (BulkOrder(BulkAction.PRIORITY, priority=-1001), "priority"),
        (BulkOrder(BulkAction.DEADLINE, deadline_at=NOW - timedelta(seconds=1)), "deadline"),
        (BulkOrder(BulkAction.DEADLINE, deadline_at=datetime.max.replace(tzinfo=UTC)), "deadline"),
        (BulkOrder(BulkAction.DISMISS, reason="x", canary=True), "canary"),
    ],
)
def test_an_order_says_which_field_is_wrong(order: BulkOrder, field: str) -> None:
    assert [fault.place for fault in order_faults(order, NOW)] == [field]


@pytest.mark.parametrize(
    "order",
    [
        BulkOrder(BulkAction.REQUEUE, canary=True),
        BulkOrder(BulkAction.CANCEL, reason="spam"),
        BulkOrder(BulkAction.PRIORITY, priority=-5),
        BulkOrder(BulkAction.DEADLINE),
        BulkOrder(BulkAction.DEADLINE, deadline_at=NOW + timedelta(hours=1)),
    ],
)
def test_an_order_that_can_be_done_has_no_fault(order: BulkOrder) -> None:
    assert order_faults(order, NOW) == []


def worker(name: str, **skills: float) -> WorkerFacts:
    from uuid import uuid4

    return WorkerFacts(uuid4(), name, slots=2, skills=skills)


def test_work_drains_no_faster_than_its_kind_its_workers_and_its_locks_allow() -> None:
    both = [worker("w1", a=1.0, b=1.0), worker("w2", a=1.0)]
    assert drain_time({"a": 80.0}, both).seconds == 20.0
    assert drain_time({"a": 80.0, "b": 60.0}, both).seconds == 35.0, "together"
    assert drain_time({"b": 60.0}, both, [90.0]).seconds == 90.0
    assert drain_time({"b": 60.0}, both).workers == 1


def test_work_that_nobody_can_do_is_named() -> None:
    found = drain_time({"a": 10.0, "z": 5.0}, [worker("w1", a=1.0)])
    assert (found.seconds, found.undoable) == (5.0, ["z"])
    assert drain_time({"z": 5.0}, [worker("w1", a=1.0)]).seconds is None
