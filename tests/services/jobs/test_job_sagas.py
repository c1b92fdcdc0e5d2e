"""Sagas on the real record: what is undone, in which order, and who decides it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.utils import timezone

from tasks_app.core.jobs.job_states import JobStatus, Role
from tasks_app.core.states import Status
from tasks_app.models import AuditEntry, StepTask, Task
from tasks_app.services.actions import operations
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.jobs import jobs
from tests.jobs import JobFloor

CHAIN: list[dict[str, Any]] = [
    {"name": "one", "kind": "a", "payload": {"n": 1}, "compensation": "undo_a"},
    {"name": "two", "kind": "b", "depends_on": ["one"], "compensation": "undo_b"},
    {"name": "three", "kind": "a", "depends_on": ["two"], "compensation": "undo_a"},
]


@pytest.fixture
def floor(record: None) -> JobFloor:
    made = JobFloor()
    made.hire("w1", slots=20)
    return made


def undone(job: UUID) -> list[tuple[str, Status]]:
    """(kind, status) of each compensation in the order in which they were made."""
    found = StepTask.objects.filter(task__job_id=job, role=Role.COMPENSATION)
    return [
        (each.task.kind_id, Status(each.task.status))
        for each in found.order_by("task_id").select_related("task")
    ]


def fail_third_step(floor: JobFloor) -> None:
    floor.complete("w1", floor.next(), "first")
    floor.complete("w1", floor.next(), "second")
    floor.fail("w1", floor.next(), permanent=True)


def test_completed_steps_are_undone_one_by_one_in_reverse_order(floor: JobFloor) -> None:
    job = floor.job(CHAIN, on_dead="compensate")
    fail_third_step(floor)
    grant = floor.next()
    assert floor.job_status(job) is JobStatus.COMPENSATING
    assert grant.kind == "undo_b"
    assert grant.payload == {"step": "two", "payload": {}, "result": "second"}
    floor.complete("w1", grant)
    grant = floor.next()
    assert (grant.kind, grant.payload["step"]) == ("undo_a", "one")
    floor.complete("w1", grant)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPENSATED
    assert undone(job) == [("undo_b", Status.COMPLETED), ("undo_a", Status.COMPLETED)]
    assert floor.steps(job)["three"] is Status.DISMISSED, "the policy has decided for the human"
    floor.assert_sound()


def test_each_compensation_has_a_key_of_its_own(floor: JobFloor) -> None:
    job = floor.job(CHAIN, on_dead="compensate")
    fail_third_step(floor)
    first = floor.next()
    floor.complete("w1", first)
    second = floor.next()
    assert first.key != second.key
    keys = Task.objects.filter(step__role=Role.COMPENSATION).values_list("key", flat=True)
    steps = Task.objects.filter(job_id=job, step__role=Role.STEP, status=Status.COMPLETED)
    assert set(keys) == {f"undo:{task.id}" for task in steps}


def test_a_task_submitted_under_the_key_of_a_compensation_does_not_keep_it_out(
    floor: JobFloor,
) -> None:
    job = floor.job(CHAIN, on_dead="compensate")
    floor.until_still()
    first = Task.objects.get(job_id=job, step__place=0)
    tomorrow = timezone.now() + timedelta(days=1)
    floor.submit(kind="undo_a", key=f"undo:{first.id}", run_at=tomorrow)
    for _ in ("one", "two"):
        floor.complete("w1", floor.next())
    floor.fail("w1", floor.next(), permanent=True)
    for _ in ("two", "one"):
        floor.complete("w1", floor.next())
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPENSATED
    undoing = Task.objects.get(step__undoes=first)
    assert undoing.status == Status.COMPLETED
    assert undoing.key is not None
    assert undoing.key.startswith(f"undo:{first.id}:")
    floor.assert_sound()


def test_what_runs_beside_the_failure_is_let_go_before_anything_is_undone(floor: JobFloor) -> None:
    job = floor.job(
        [
            {"name": "done", "kind": "a", "compensation": "undo_a"},
            {"name": "slow", "kind": "b", "compensation": "undo_b"},
            {"name": "bad", "kind": "a", "depends_on": ["done"]},
            {"name": "never", "kind": "a", "depends_on": ["bad"]},
        ],
        on_dead="compensate",
    )
    done, slow = sorted(floor.all_next(), key=lambda grant: grant.kind)
    floor.complete("w1", done)
    floor.fail("w1", floor.next(), permanent=True)
    floor.until_still()
    assert floor.steps(job)["never"] is Status.CANCELLED
    assert undone(job) == [], "the slow step may still complete"
    assert floor.beat("w1", slow).cancel == [slow.token]
    floor.complete("w1", slow, "too late to stop")
    assert floor.next().kind == "undo_b", "it completed last, so it is undone first"
    floor.assert_sound()


def test_a_compensation_that_dies_is_parked_for_a_human_and_holds_up_the_others(
    floor: JobFloor,
) -> None:
    job = floor.job(CHAIN, on_dead="compensate")
    fail_third_step(floor)
    floor.fail("w1", floor.next(), permanent=True)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPENSATING
    assert undone(job) == [("undo_b", Status.DEAD)]
    parked = Task.objects.get(status=Status.DEAD)
    operations.requeue([parked.id], floor.operator)
    floor.complete("w1", floor.next())
    floor.complete("w1", floor.next())
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPENSATED
    floor.assert_sound()


def test_a_human_may_close_a_parked_compensation_and_the_rest_goes_on(floor: JobFloor) -> None:
    job = floor.job(CHAIN, on_dead="compensate")
    fail_third_step(floor)
    floor.fail("w1", floor.next(), permanent=True)
    floor.until_still()
    parked = Task.objects.get(status=Status.DEAD)
    operations.dismiss([parked.id], floor.operator, "undone by hand")
    floor.complete("w1", floor.next())
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPENSATED
    assert undone(job) == [("undo_b", Status.DISMISSED), ("undo_a", Status.COMPLETED)]


def test_with_the_policy_ask_nothing_is_undone_before_a_human_says_so(floor: JobFloor) -> None:
    job = floor.job(CHAIN)
    fail_third_step(floor)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.DEAD
    assert undone(job) == []
    assert jobs.compensate_job(job, floor.operator, "give it up")
    assert floor.next().kind == "undo_b"
    assert floor.job_status(job) is JobStatus.COMPENSATING
    assert not jobs.cancel_job(job, floor.operator), "it goes back already"
    entry = AuditEntry.objects.get(action="compensate")
    assert (entry.actor, entry.subject, entry.reason) == ("op", f"job {job}", "give it up")


def test_with_the_policy_ask_a_requeued_step_takes_the_job_up_again(floor: JobFloor) -> None:
    job = floor.job(CHAIN)
    fail_third_step(floor)
    floor.until_still()
    dead = Task.objects.get(status=Status.DEAD)
    operations.requeue([dead.id], floor.operator)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.RUNNING
    floor.complete("w1", floor.next(), "third")
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPLETED
    floor.assert_sound()


def test_a_job_whose_dead_step_is_dismissed_ends_by_that_hand(floor: JobFloor) -> None:
    job = floor.job(CHAIN)
    fail_third_step(floor)
    floor.until_still()
    operations.dismiss([Task.objects.get(status=Status.DEAD).id], floor.operator, "not needed")
    floor.until_still()
    assert floor.job_status(job) is JobStatus.CANCELLED
    floor.assert_sound()


def test_a_job_is_dead_only_when_nothing_of_it_can_move(floor: JobFloor) -> None:
    job = floor.job(
        [
            {"name": "bad", "kind": "a"},
            {"name": "waits", "kind": "a", "depends_on": ["bad"]},
            {"name": "good", "kind": "b"},
        ]
    )
    bad, good = sorted(floor.all_next(), key=lambda grant: grant.kind)
    floor.fail("w1", bad, permanent=True)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.RUNNING
    floor.complete("w1", good)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.DEAD


def test_cancelling_one_step_of_a_saga_undoes_the_job(floor: JobFloor) -> None:
    job = floor.job(CHAIN, on_dead="compensate")
    floor.complete("w1", floor.next())
    floor.until_still()
    last = Task.objects.get(step__place=2)
    cancel_tasks([last.id], floor.operator)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPENSATING
    second = Task.objects.get(step__place=1)
    assert second.cancel_asked or second.status == Status.CANCELLED


def test_a_saga_whose_last_open_step_is_cancelled_goes_back_at_once(floor: JobFloor) -> None:
    job = floor.job(CHAIN[:2], on_dead="compensate")
    floor.complete("w1", floor.next())
    floor.until_still()
    cancel_tasks([Task.objects.get(status=Status.ASSIGNED).id], floor.operator)
    grant = floor.next()
    assert grant.kind == "undo_a"
    floor.complete("w1", grant)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPENSATED


def test_a_step_requeued_while_its_job_is_being_completed_keeps_the_job_open(
    floor: JobFloor,
) -> None:
    job = floor.job(
        [
            {"name": "hint", "kind": "a"},
            {"name": "answer", "kind": "b", "depends_on": [{"on": "hint", "on_dead": "continue"}]},
        ]
    )
    floor.fail("w1", floor.next(), permanent=True)
    floor.complete("w1", floor.next())
    dead = Task.objects.get(status=Status.DEAD)
    with ThreadPoolExecutor(1) as beside, transaction.atomic():
        operations.requeue([dead.id], floor.operator)
        beside.submit(in_own_connection, floor.round).result()
    assert floor.job_status(job) is JobStatus.RUNNING, "the supervisor does not wait for the step"
    floor.round()
    assert floor.job_status(job) is JobStatus.RUNNING
    assert floor.status(dead.id) in (Status.PENDING, Status.ASSIGNED), "the step goes on"
    floor.complete("w1", floor.next())
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPLETED
    floor.assert_sound()


def in_own_connection(call: Callable[[], object]) -> None:
    try:
        call()
    finally:
        connection.close()


def test_a_cancelled_job_ends_once_what_runs_has_let_go(floor: JobFloor) -> None:
    job = floor.job(CHAIN, on_dead="compensate")
    floor.complete("w1", floor.next())
    grant = floor.next()
    assert jobs.cancel_job(job, floor.operator, "wrong day")
    assert not jobs.cancel_job(job, floor.operator), "that was asked for already"
    floor.until_still()
    assert floor.job_status(job) is JobStatus.RUNNING
    floor.let_go("w1", grant)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.CANCELLED
    assert floor.steps(job) == {
        "one": Status.COMPLETED,
        "two": Status.CANCELLED,
        "three": Status.CANCELLED,
    }
    assert undone(job) == [], "cancelling leaves what is done"
    floor.assert_sound()


def test_a_paused_job_hands_out_nothing_and_goes_on_when_resumed(floor: JobFloor) -> None:
    job = floor.job([*CHAIN, {"name": "filled", "kind": "b", "payload": {"$result": "one"}}])
    grant = floor.next()
    assert jobs.pause_job(job, floor.operator)
    assert not jobs.pause_job(job, floor.operator)
    floor.complete("w1", grant, {"x": 1})
    assert floor.all_next() == []
    floor.assert_sound()
    assert jobs.resume_job(job, floor.operator)
    assert sorted(grant.kind for grant in floor.all_next()) == ["b", "b"]
    floor.assert_sound()


def test_a_step_requeued_in_a_paused_job_waits_for_the_resume(floor: JobFloor) -> None:
    job = floor.job([{"name": "only", "kind": "a"}])
    floor.fail("w1", floor.next(), permanent=True)
    floor.until_still()
    jobs.pause_job(job, floor.operator)
    operations.requeue([Task.objects.get().id], floor.operator)
    assert floor.all_next() == []
    jobs.resume_job(job, floor.operator)
    assert len(floor.all_next()) == 1
    floor.assert_sound()


def test_a_compensation_may_be_told_what_the_plan_says(floor: JobFloor) -> None:
    floor.job(
        [
            {
                "name": "book",
                "kind": "a",
                "compensation": {
                    "kind": "undo_a",
                    "payload": {"booking": {"$result": "book.id"}, "gone": {"$result": "book.x"}},
                },
            },
            {"name": "bad", "kind": "b", "depends_on": ["book"]},
        ],
        on_dead="compensate",
    )
    floor.complete("w1", floor.next(), {"id": 7})
    floor.fail("w1", floor.next(), permanent=True)
    assert floor.next().payload == {"booking": 7, "gone": None}


def test_each_completed_item_is_undone_by_itself(floor: JobFloor) -> None:
    job = floor.job(
        [
            {
                "name": "each",
                "kind": "a",
                "for_each": ["x", "y", "z"],
                "compensation": "undo_a",
                "payload": {"of": {"$item": ""}},
            },
        ],
        on_dead="compensate",
    )
    one, two, three = sorted(floor.all_next(), key=lambda grant: str(grant.payload["of"]))
    floor.complete("w1", two, 2)
    floor.complete("w1", one, 1)
    floor.fail("w1", three, permanent=True)
    seen = []
    for _ in range(2):
        grant = floor.next()
        seen.append(grant.payload)
        floor.complete("w1", grant)
    floor.until_still()
    assert seen == [
        {"step": "each", "payload": {"of": "x"}, "result": 1},
        {"step": "each", "payload": {"of": "y"}, "result": 2},
    ]
    assert floor.job_status(job) is JobStatus.COMPENSATED
    floor.assert_sound()
