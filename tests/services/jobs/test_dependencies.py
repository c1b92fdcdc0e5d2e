"""Edges between tasks: inputs, and what death means for those that wait."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from tasks_app.core.states import OnDead, Status
from tasks_app.models import Task
from tasks_app.services.actions import operations
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.actions.payload_edits import edit_and_requeue
from tasks_app.services.people.people import Actor
from tests.floor import Floor

OPERATOR = Actor("op", "127.0.0.1")


def end(floor: Floor, *, dead: bool = False, result: object = None) -> UUID:
    """Let w1 take the next task and end it."""
    floor.round()
    grants = floor.claim("w1", 1)
    assert len(grants) == 1
    if dead:
        floor.fail("w1", grants[0], permanent=True)
    else:
        floor.complete("w1", grants[0], result)
    return grants[0].task_id


@pytest.fixture(autouse=True)
def one_worker(floor: Floor) -> None:
    floor.worker("w1", slots=4)


def test_a_dependent_runs_only_after_its_dependency_and_gets_its_result(floor: Floor) -> None:
    (first,) = floor.submit()
    (second,) = floor.submit(needs=[(first, OnDead.WAIT)])
    assert floor.round().dispatched == 1
    assert floor.status(second) is Status.PENDING
    (grant,) = floor.claim("w1")
    floor.complete("w1", grant, {"label": "card"})
    assert floor.round().dispatched == 1
    (grant,) = floor.claim("w1")
    assert (grant.task_id, grant.inputs) == (second, {"input0": {"label": "card"}})


def test_a_dependent_of_two_waits_for_both(floor: Floor) -> None:
    a, b = floor.submit(2)
    (both,) = floor.submit(needs=[(a, OnDead.WAIT), (b, OnDead.WAIT)])
    end(floor)
    assert floor.task(both).waiting_on == 2, "the supervisor has not looked yet"
    floor.round()
    assert floor.task(both).waiting_on == 1
    floor.complete("w1", floor.claim("w1", 1)[0])
    floor.round()
    assert floor.status(both) is Status.ASSIGNED


def test_on_dead_wait_waits_for_the_human_and_goes_on_after_a_requeue(floor: Floor) -> None:
    (first,) = floor.submit()
    (second,) = floor.submit(needs=[(first, OnDead.WAIT)])
    assert end(floor, dead=True) == first
    floor.round()
    assert floor.status(second) is Status.PENDING
    assert [e.state for e in floor.task(second).dependencies.all()] == ["blocked"]
    assert operations.requeue([first], OPERATOR).done == {first}
    floor.round()
    assert [e.state for e in floor.task(second).dependencies.all()] == ["waiting"]
    assert end(floor) == first
    assert end(floor) == second
    floor.assert_counts_are_true()


def test_on_dead_wait_is_dead_once_the_dependency_is_dismissed(floor: Floor) -> None:
    (first,) = floor.submit()
    (second,) = floor.submit(needs=[(first, OnDead.WAIT)])
    (third,) = floor.submit(needs=[(second, OnDead.FAIL)])
    end(floor, dead=True)
    floor.round()
    operations.dismiss([first], OPERATOR, "not ours")
    floor.round()
    assert floor.task(second).dead_reason == "dependency"
    floor.round()
    assert floor.task(third).dead_reason == "dependency", "death travels along the edges"
    refused = operations.requeue([second], OPERATOR).refused
    assert "DISMISSED" in refused[second]
    floor.assert_counts_are_true()


def test_on_dead_fail_is_dead_at_once_and_a_requeue_waits_again(floor: Floor) -> None:
    (first,) = floor.submit()
    (second,) = floor.submit(needs=[(first, OnDead.FAIL)])
    end(floor, dead=True)
    floor.round()
    assert floor.task(second).dead_reason == "dependency"
    operations.requeue([second], OPERATOR)
    assert (floor.status(second), floor.task(second).waiting_on) == (Status.PENDING, 1)
    operations.requeue([first], OPERATOR)
    assert end(floor) == first
    assert end(floor) == second
    floor.assert_counts_are_true()


def test_on_dead_continue_goes_on_without_the_result(floor: Floor) -> None:
    (first,) = floor.submit()
    (second,) = floor.submit(needs=[(first, OnDead.CONTINUE)])
    end(floor, dead=True)
    floor.round()
    (grant,) = floor.claim("w1")
    assert (grant.task_id, grant.inputs) == (second, {"input0": None})


def test_a_requeue_keeps_the_history_and_starts_a_new_budget(floor: Floor) -> None:
    (task,) = floor.submit()
    end(floor, dead=True)
    token = floor.task(task).token
    floor_result = operations.requeue([task], OPERATOR)
    assert floor_result.done == {task}
    again = floor.task(task)
    assert (again.attempts, again.total_attempts, again.requeues) == (0, 1, 1)
    assert end(floor) == task
    done = floor.task(task)
    assert done.token is not None
    assert token is not None
    assert done.token > token
    assert [outcome for outcome, _ in floor.attempts(task)] == ["error", "completed"]


def test_a_second_requeue_of_the_same_task_does_nothing_and_says_why(floor: Floor) -> None:
    (task,) = floor.submit()
    end(floor, dead=True)
    operations.requeue([task], OPERATOR)
    second = operations.requeue([task], OPERATOR)
    assert second.done == set()
    assert second.refused == {task: "It is PENDING, not DEAD."}
    assert floor.task(task).requeues == 1


def test_a_dismissal_needs_a_reason_and_is_audited_with_it(floor: Floor) -> None:
    from tasks_app.models import AuditEntry

    (task,) = floor.submit()
    end(floor, dead=True)
    with pytest.raises(ValueError, match="reason"):
        operations.dismiss([task], OPERATOR, "  ")
    operations.dismiss([task], OPERATOR, "spam")
    assert floor.status(task) is Status.DISMISSED
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.reason, entry.count) == ("op", "dismiss", "spam", 1)
    assert entry.detail == {"tasks": [str(task)]}


def overdue(floor: Floor, *needs: tuple[UUID, OnDead]) -> UUID:
    """A task that died of its deadline while it still waited for these."""
    (task,) = floor.submit(needs=needs, deadline_at=timezone.now() + timedelta(hours=1))
    Task.objects.filter(id=task).update(deadline_at=timezone.now() - timedelta(seconds=1))
    floor.round()
    assert floor.task(task).dead_reason == "deadline"
    return task


@pytest.mark.parametrize("on_dead", [OnDead.WAIT, OnDead.FAIL])
@pytest.mark.parametrize("how", ["cancelled", "dismissed"])
def test_what_died_while_it_waited_is_not_requeued_once_its_dependency_is_closed(
    floor: Floor, how: str, on_dead: OnDead
) -> None:
    (first,) = floor.submit()
    task = overdue(floor, (first, on_dead))
    close(floor, first, how)
    result = operations.requeue([task], OPERATOR)
    assert result.done == set()
    assert how.upper() in result.refused[task]


@pytest.mark.parametrize("how", ["cancelled", "dismissed", "dead"])
def test_what_died_while_it_waited_runs_after_a_requeue_where_it_goes_on_without_its_dependency(
    floor: Floor, how: str
) -> None:
    (first,) = floor.submit()
    task = overdue(floor, (first, OnDead.CONTINUE))
    close(floor, first, how)
    assert operations.requeue([task], OPERATOR).done == {task}
    assert end(floor) == task


def close(floor: Floor, task: UUID, how: str) -> None:
    """Have a PENDING task end badly, and the supervisor look at it."""
    if how == "cancelled":
        cancel_tasks([task], OPERATOR)
    else:
        assert end(floor, dead=True) == task
    if how == "dismissed":
        operations.dismiss([task], OPERATOR, "not ours")
    floor.round()


def test_what_died_while_it_waited_runs_after_a_requeue_once_its_dependency_is_done(
    floor: Floor,
) -> None:
    (first,) = floor.submit()
    task = overdue(floor, (first, OnDead.WAIT))
    assert end(floor) == first
    floor.round()
    assert operations.requeue([task], OPERATOR).done == {task}
    assert end(floor) == task


def test_an_edited_payload_is_judged_like_any_requeue(floor: Floor) -> None:
    (first,) = floor.submit()
    task = overdue(floor, (first, OnDead.WAIT))
    assert end(floor) == first
    floor.round()
    assert not edit_and_requeue(task, 0, '{"n": 2}', OPERATOR).refused
    assert end(floor) == task


def test_a_requeue_of_both_in_either_order_waits_for_the_first(floor: Floor) -> None:
    (first,) = floor.submit()
    (second,) = floor.submit(needs=[(first, OnDead.FAIL)])
    end(floor, dead=True)
    floor.round()
    assert operations.requeue([second], OPERATOR).done == {second}
    floor.round()
    assert floor.status(second) is Status.PENDING, "whoever requeues it wants the first done too"
    assert [e.state for e in floor.task(second).dependencies.all()] == ["blocked"]
    assert operations.requeue([first], OPERATOR).done == {first}
    assert end(floor, dead=True) == first
    floor.round()
    assert floor.task(second).dead_reason == "dependency", "it has died once more"
