"""Acts on many tasks: dry run, hold, undo, batches, abort, canary, each task once."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tasks_app.core.actions.bulks import BulkAction, BulkOrder, BulkState
from tasks_app.core.states import OnDead, Status
from tasks_app.models import AuditEntry, Bulk, BulkItem, Task
from tasks_app.services.actions import bulks, operations
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.dispatch import rounds
from tasks_app.services.dispatch.rounds import Deposed, run_round
from tasks_app.services.people.people import Actor, NotAllowed, Role
from tasks_app.store.dispatch import leader
from tasks_app.store.reads.actions.bulks import BulkRow, count_refusals, find_bulk, read_waves
from tests.floor import Floor
from tests.web.conftest import died

OTTO = Actor("otto", "10.0.0.7", "session 0a1b2c3d")


def begin(ids: Sequence[UUID], action: BulkAction = BulkAction.REQUEUE, **values: Any) -> BulkRow:
    order = BulkOrder(action, **{"reason": "mended", "key": bulks.new_key(), **values})
    begun = bulks.begin(order, ids, OTTO)
    assert begun is not None
    return begun


def look(bulk: BulkRow) -> BulkRow:
    found = find_bulk(bulk.id)
    assert found is not None
    return found


@pytest.fixture
def dead(floor: Floor) -> list[UUID]:
    floor.worker("w1", slots=50)
    return [died(floor, "w1") for _ in range(3)]


def test_a_bulk_touches_nothing_while_it_is_held(floor: Floor, dead: list[UUID]) -> None:
    bulk = begin(dead)
    assert 0 < bulk.begins_in <= 10
    assert floor.round().bulks == 0
    assert {floor.status(task) for task in dead} == {Status.DEAD}
    assert (look(bulk).state, look(bulk).total, look(bulk).place) == (BulkState.HELD, 3, 0)


def test_after_the_hold_each_task_is_moved_once_and_the_result_says_so(
    floor: Floor, dead: list[UUID]
) -> None:
    bulk = begin(dead)
    floor.end_holds()
    assert floor.round().bulks == 3
    # The next round has handed them out already where slots are free.
    assert all(floor.task(task).requeues == 1 for task in dead)
    found = look(bulk)
    assert (found.state, found.moved, found.refused, found.left) == (BulkState.DONE, 3, 0, 0)
    assert floor.round().bulks == 0
    assert all(floor.task(task).requeues == 1 for task in dead)


def test_one_act_is_one_row_of_the_audit(floor: Floor, dead: list[UUID]) -> None:
    bulk = begin(dead)
    floor.work_off()
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.count) == ("otto", "requeue", 3)
    assert (entry.reason, entry.wanted, entry.via) == ("mended", "", OTTO.via)
    assert entry.before == {"DEAD": 3}
    assert entry.detail["bulk"] == str(bulk.id)


def test_what_is_undone_in_time_was_never_done(floor: Floor, dead: list[UUID]) -> None:
    bulk = begin(dead)
    assert bulks.undo(bulk.id, OTTO)
    assert not bulks.undo(bulk.id, OTTO)
    floor.work_off()
    assert {floor.status(task) for task in dead} == {Status.DEAD}
    assert (look(bulk).state, look(bulk).ended) == (BulkState.UNDONE, "Undone by otto.")
    assert [entry.action for entry in AuditEntry.objects.order_by("id")] == [
        "requeue",
        "undo bulk",
    ]


def test_what_has_begun_is_not_undone_but_aborted(
    floor: Floor, dead: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.core.actions.bulks.BATCH", 2)
    bulk = begin(dead)
    floor.end_holds()
    floor.round()
    assert not bulks.undo(bulk.id, OTTO)
    assert bulks.abort(bulk.id, OTTO)
    floor.work_off()
    assert [floor.task(task).requeues for task in dead] == [1, 1, 0]
    found = look(bulk)
    assert (found.state, found.moved, found.left) == (BulkState.ABORTED, 2, 1)


def test_a_form_that_is_sent_twice_begins_once(floor: Floor, dead: list[UUID]) -> None:
    first = begin(dead, key="form")
    second = begin(dead, key="form")
    assert first.id == second.id
    assert (Bulk.objects.count(), BulkItem.objects.count()) == (1, 3)
    assert AuditEntry.objects.count() == 1


def test_what_was_requeued_meanwhile_is_left_as_it_is(floor: Floor, dead: list[UUID]) -> None:
    bulk = begin(dead)
    operations.requeue([dead[0]], OTTO)
    floor.round()
    floor.fail("w1", floor.claim("w1")[0], permanent=True)
    operations.dismiss([dead[1]], OTTO, "spam")
    floor.work_off()
    assert [floor.task(task).requeues for task in dead] == [1, 0, 1]
    assert dict(count_refusals(bulk.id)) == {
        "It was requeued by somebody else meanwhile, and is left as it is now.": 1,
        "It is DISMISSED and has ended.": 1,
    }
    assert (look(bulk).moved, look(bulk).refused) == (1, 2)


def test_a_successor_goes_on_where_the_killed_leader_stopped(
    floor: Floor, dead: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.core.actions.bulks.BATCH", 1)
    bulk = begin(dead)
    floor.end_holds()
    floor.round()
    with pytest.raises(Deposed):
        run_round(floor.epoch - 1, 99, sweeping=False)
    assert look(bulk).place == 1
    floor.work_off()
    assert [floor.task(task).requeues for task in dead] == [1, 1, 1]


def test_a_deposed_leader_leaves_nothing_of_its_batch(floor: Floor, dead: list[UUID]) -> None:
    bulk = begin(dead)
    floor.end_holds()
    with pytest.raises(Deposed):
        rounds._bulk_round(floor.epoch + 1)
    assert (look(bulk).place, look(bulk).state) == (0, BulkState.HELD)
    assert {floor.status(task) for task in dead} == {Status.DEAD}


def test_a_batch_of_requeues_looks_at_a_bounded_number_of_dependencies(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.core.actions.bulks.EDGES_AT_ONCE", 5)
    needs = [(task, OnDead.WAIT) for task in floor.submit(3)]
    wide = floor.submit(4, needs=needs, kind="wide")
    Task.objects.filter(id__in=wide).update(deadline_at="2020-01-01T00:00:00Z")
    floor.round()
    bulk = begin(wide)
    floor.end_holds()
    assert [floor.round().bulks for _ in range(4)] == [1, 1, 1, 1], "two would look at 6"
    assert (look(bulk).state, look(bulk).moved) == (BulkState.DONE, 4)


def test_two_bulks_take_turns(
    floor: Floor, dead: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.core.actions.bulks.BATCH", 1)
    first = begin(dead[:2])
    second = begin(dead[2:], BulkAction.DISMISS)
    floor.end_holds()
    floor.round()
    floor.round()
    assert {look(first).place, look(second).place} == {1}


def test_nothing_chosen_begins_nothing(floor: Floor) -> None:
    order = BulkOrder(BulkAction.REQUEUE, key="k")
    assert bulks.begin(order, [], OTTO) is None
    assert not Bulk.objects.exists()


def test_an_order_with_a_fault_begins_nothing(floor: Floor, dead: list[UUID]) -> None:
    with pytest.raises(bulks.OrderInvalid, match="reason: empty"):
        begin(dead, BulkAction.DISMISS, reason=" ")
    assert not Bulk.objects.exists()


@pytest.mark.parametrize("act", [bulks.undo, bulks.abort])
def test_a_viewer_may_do_nothing(
    floor: Floor, dead: list[UUID], act: Callable[[UUID, Actor], bool]
) -> None:
    viewer = Actor("vera", role=Role.VIEWER)
    bulk = begin(dead)
    with pytest.raises(NotAllowed):
        act(bulk.id, viewer)
    with pytest.raises(NotAllowed):
        bulks.begin(BulkOrder(BulkAction.REQUEUE, key="k"), dead, viewer)
    assert look(bulk).is_held


def test_a_cancel_ends_what_waits_and_asks_who_works(floor: Floor) -> None:
    floor.worker("w1")
    running, waiting = floor.submit(2)
    floor.round()
    floor.claim("w1", 1)
    bulk = begin([running, waiting], BulkAction.CANCEL)
    floor.work_off()
    assert floor.status(waiting) is Status.CANCELLED
    assert floor.task(running).cancel_asked
    assert look(bulk).moved == 2
    again = begin([running, waiting], BulkAction.CANCEL)
    floor.work_off()
    assert dict(count_refusals(again.id)) == {
        "Its worker is asked to let go of it already.": 1,
        "It is CANCELLED and has ended.": 1,
    }


def test_a_higher_priority_moves_tasks_ahead_in_the_queue(floor: Floor) -> None:
    first, second = floor.submit(2)
    begin([second], BulkAction.PRIORITY, priority=5)
    floor.work_off()
    assert floor.task(second).priority == 5
    assert floor.task(second).queue_at < floor.task(first).queue_at
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.before, entry.after) == (
        "change priority",
        {"priority": {"0": 1}},
        {"priority": 5},
    )
    floor.worker("w1")
    floor.round()
    assert floor.status(second) is Status.ASSIGNED
    begin([second], BulkAction.PRIORITY, priority=0)
    floor.work_off()
    assert floor.task(second).priority == 5, "a worker has it already"


def test_a_deadline_is_moved_and_taken_away(floor: Floor) -> None:
    (task,) = floor.submit()
    soon = datetime.now(UTC) + timedelta(hours=1)
    begin([task], BulkAction.DEADLINE, deadline_at=soon)
    floor.work_off()
    assert floor.task(task).deadline_at == soon
    begin([task], BulkAction.DEADLINE)
    floor.work_off()
    assert floor.task(task).deadline_at is None
    told = [(entry.before, entry.after) for entry in AuditEntry.objects.order_by("id")]
    until = soon.isoformat(timespec="seconds")
    assert told == [
        ({"deadline_at": {"none": 1}}, {"deadline_at": soon.isoformat()}),
        ({"deadline_at": {until: 1}}, {"deadline_at": None}),
    ]


def canary(floor: Floor, count: int = 14) -> tuple[list[UUID], BulkRow]:
    floor.worker("w1", slots=50)
    ids = [died(floor, "w1") for _ in range(count)]
    return ids, begin(ids, canary=True)


def sent_on(ids: Sequence[UUID]) -> int:
    return Task.objects.filter(id__in=ids, requeues=1).count()


def end_all(floor: Floor, **error: Any) -> None:
    """Have the worker complete what it was given, or fail all of it."""
    floor.round()
    for grant in floor.claim("w1"):
        if error:
            floor.fail("w1", grant, **error)
        else:
            floor.complete("w1", grant)


SAME = {"type": "jsonschema.ValidationError", "message": "payload.text is missing"}


def test_a_canary_sends_one_then_ten_then_all(floor: Floor) -> None:
    ids, bulk = canary(floor)
    seen = []
    for _ in range(3):
        floor.work_off()
        seen.append(sent_on(ids))
        assert look(bulk).is_open, "each wave is watched, the last one too"
        end_all(floor)
    assert seen == [1, 11, 14]
    floor.work_off()
    assert look(bulk).state == BulkState.DONE
    assert "the same error did not come back" in look(bulk).ended
    waves = [(wave.size, wave.dealt, wave.completed) for wave in read_waves(look(bulk))]
    assert waves == [(1, 1, 1), (10, 10, 10), (3, 3, None)], "the last may be of a million"


def test_a_canary_stops_by_itself_when_the_same_error_comes_back(floor: Floor) -> None:
    ids, bulk = canary(floor)
    floor.work_off()
    end_all(floor)
    floor.work_off()
    end_all(floor, **SAME)
    floor.work_off()
    assert sent_on(ids) == 11
    found = look(bulk)
    assert (found.state, found.left) == (BulkState.STOPPED, 3)
    assert "The same error came back" in found.ended


def test_a_canary_stops_at_the_first_failed_attempt_already(floor: Floor) -> None:
    ids, bulk = canary(floor)
    Task.objects.filter(id__in=ids).update(max_attempts=3)
    floor.work_off()
    floor.kind("job", retryable_errors=["jsonschema.ValidationError"])
    end_all(floor, **SAME)
    assert floor.status(ids[0]) is Status.FAILED
    floor.work_off()
    assert look(bulk).state == BulkState.STOPPED


def test_a_canary_whose_first_dies_of_something_else_stops_too(floor: Floor) -> None:
    ids, bulk = canary(floor)
    floor.work_off()
    end_all(floor, type="KeyError", message="another", permanent=True)
    floor.work_off()
    assert (sent_on(ids), look(bulk).state) == (1, BulkState.STOPPED)
    assert look(bulk).ended == "Nothing of the wave completed, though the error was another."


@pytest.mark.parametrize("count", [1, 2, 11, 14])
def test_a_canary_says_whether_its_last_wave_brought_the_error_back(
    floor: Floor, count: int
) -> None:
    ids, bulk = canary(floor, count)
    floor.work_off()
    while sent_on(ids) < count:
        end_all(floor)
        floor.work_off()
    end_all(floor, **SAME)
    floor.work_off()
    found = look(bulk)
    assert (found.state, found.left) == (BulkState.CAME_BACK, 0)
    assert "The same error came back" in found.ended


def test_a_last_wave_of_which_nothing_completed_says_so(floor: Floor) -> None:
    _, bulk = canary(floor, 1)
    floor.work_off()
    end_all(floor, type="KeyError", message="another", permanent=True)
    floor.work_off()
    assert look(bulk).state == BulkState.DONE
    assert "nothing of the last wave completed" in look(bulk).ended


def test_the_last_wave_is_not_watched_for_ever(floor: Floor) -> None:
    _, bulk = canary(floor, 1)
    floor.work_off()
    floor.work_off()
    assert look(bulk).is_open
    Bulk.objects.update(sent_at=datetime.now(UTC) - timedelta(hours=2))
    floor.work_off()
    assert look(bulk).state == BulkState.DONE
    assert "had not ended after an hour" in look(bulk).ended


def test_a_successor_watches_on_where_the_killed_leader_stopped(floor: Floor) -> None:
    ids, bulk = canary(floor, 2)
    floor.work_off()
    end_all(floor)
    floor.work_off()
    assert (sent_on(ids), Bulk.objects.get().watched) == (2, 1)
    leader.expire(floor.epoch)
    floor.lead()
    end_all(floor, **SAME)
    floor.work_off()
    assert look(bulk).state == BulkState.CAME_BACK


def test_a_last_wave_is_watched_a_part_at_a_time(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.core.actions.bulks.WATCHED_AT_ONCE", 2)
    ids, bulk = canary(floor, 9)
    floor.work_off()
    end_all(floor)
    floor.work_off()
    assert sent_on(ids) == 9
    end_all(floor)
    floor.work_off()
    assert (look(bulk).state, Bulk.objects.get().watched) == (BulkState.DONE, 9)


def test_a_canary_waits_for_its_wave(floor: Floor) -> None:
    ids, bulk = canary(floor)
    for _ in range(3):
        floor.work_off()
    assert (sent_on(ids), look(bulk).state) == (1, BulkState.RUNNING)


def test_the_wave_that_stopped_a_canary_stays_marked(floor: Floor) -> None:
    ids, bulk = canary(floor)
    floor.work_off()
    end_all(floor, **SAME)
    floor.work_off()
    assert look(bulk).state == BulkState.STOPPED
    first, *others = read_waves(look(bulk))
    assert (first.failed, first.came_back) == (True, 1)
    assert not any(wave.failed for wave in others)
    operations.dismiss(ids[:1], OTTO, "closed")
    assert floor.status(ids[0]) is Status.DISMISSED
    (first, *_) = read_waves(look(bulk))
    assert (first.failed, first.came_back) == (True, 0)


def test_a_canary_stops_within_its_last_wave(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    ids, bulk = canary(floor)
    monkeypatch.setattr("tasks_app.core.actions.bulks.BATCH", 10)
    floor.work_off()
    end_all(floor)
    floor.work_off()
    end_all(floor)
    monkeypatch.setattr("tasks_app.core.actions.bulks.BATCH", 1)
    floor.end_holds()
    floor.round()
    end_all(floor, **SAME)
    floor.work_off()
    assert look(bulk).state == BulkState.STOPPED
    assert sent_on(ids) < 14


def test_a_dry_run_counts_who_is_touched_who_refused_and_what_it_takes(floor: Floor) -> None:
    floor.worker("w1", slots=2, skills={"job": 1.0, "other": 1.0})
    dead = [died(floor, "w1", lock_key="printer") for _ in range(2)]
    plain = died(floor, "w1", dependents=2)
    (blocker,) = floor.submit()
    (blocked,) = floor.submit(needs=[(blocker, OnDead.FAIL)])
    cancel_tasks([blocker], OTTO)
    floor.round()
    (waiting,) = floor.submit(kind="other")
    floor.kind("job", paused=True)
    found = bulks.plan(BulkAction.REQUEUE, [*dead, plain, blocked, waiting])
    assert found.kinds == {"job": 3}, "who is refused is not among those that are touched"
    assert found.touched == 3
    assert found.refused == {
        "It is PENDING, not DEAD.": 1,
        "A task that it depends on is closed and will never complete.": 1,
    }
    assert (found.preview.locks, found.preview.locked) == (1, 2)
    assert found.preview.lock_names == ["printer"]
    assert found.preview.dependents == 2
    assert found.held_back == {"job": "is paused: they wait until it goes on."}
    assert found.drain is not None
    assert found.drain.seconds == pytest.approx(2.0)
    assert AuditEntry.objects.count() == 1, "only the cancel"
