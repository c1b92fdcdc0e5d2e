"""A key that comes again: equal content is on record already, other content is a conflict."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from tasks_app.models import Task
from tasks_app.services.actions.bulks import BulkKeyTaken
from tasks_app.services.actions.payload_edits import edit_and_requeue
from tasks_app.services.intake.submission import (
    Dependency,
    KeyRef,
    NewTask,
    Rehearsal,
    SubmissionInvalid,
    SubmitReport,
    submit_tasks,
)
from tasks_app.services.jobs.jobs import JobKeyTaken, submit_job
from tasks_app.services.people.people import Actor, Role
from tests.floor import Floor
from tests.jobs import JobFloor
from tests.services.intake.test_submission import somebody_waits_for_a_lock
from tests.waiting import wait_for

NOON = datetime(2030, 1, 31, 12, tzinfo=UTC)
FIRST = NewTask(
    "job",
    {"a": 1, "b": [1.5, None]},
    key="k",
    priority=2,
    estimate_seconds=3,
    max_attempts=4,
    run_at=NOON,
    lock_key="l",
    weight=2,
    deadline_at=NOON + timedelta(days=1),
)


@pytest.fixture
def floor(record: None) -> Floor:
    floor = Floor()
    floor.kind("job")
    floor.kind("other")
    return floor


def conflicts_of(tasks: list[NewTask]) -> list[tuple[int, str]]:
    with pytest.raises(SubmissionInvalid) as refused:
        submit_tasks(tasks)
    assert refused.value.is_conflict
    return [(fault.index, fault.field) for fault in refused.value.faults]


@pytest.mark.parametrize(
    "changed",
    [
        {"payload": {"a": 2, "b": [1.5, None]}},
        {"payload": {"a": True, "b": [1.5, None]}},
        {"payload": {"a": "1", "b": [1.5, None]}},
        {"payload": {"a": 1, "b": [None, 1.5]}},
        {"payload": {"a": 1}},
        {"payload": {"a": 1, "b": [1.5, None], "c": None}},
        {"payload": None},
        {"priority": 3},
        {"estimate_seconds": None},
        {"max_attempts": 5},
        {"run_at": None},
        {"lock_key": "m"},
        {"weight": 1},
        {"deadline_at": NOON + timedelta(days=2)},
        {"depends_on": [Dependency(KeyRef("other", "x"))]},
    ],
    ids=str,
)
def test_other_content_under_a_key_is_a_conflict_and_nothing_is_written(
    floor: Floor, changed: dict[str, Any]
) -> None:
    submit_tasks([FIRST, NewTask("other", {}, key="x")])
    assert conflicts_of([NewTask("job", "new"), replace(FIRST, **changed)]) == [(1, "key")]
    # The same within one batch.
    second = replace(FIRST, key="z")
    assert conflicts_of([second, replace(second, **changed)]) == [(1, "key")]
    assert Task.objects.count() == 2


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"payload": {"b": [1.5, None], "a": 1}},
        {"payload": {"a": 1.0, "b": [15e-1, None]}},
        {"run_at": NOON.astimezone(timezone(timedelta(hours=5)))},
        {"weight": 2.0, "estimate_seconds": 3.0},
    ],
    ids=str,
)
def test_equal_content_is_on_record_already_however_it_is_spelt(
    floor: Floor, changed: dict[str, Any]
) -> None:
    first = submit_tasks([FIRST]).ids[0]
    again = replace(FIRST, **changed)
    report = submit_tasks([again, again, NewTask("job", "new")])
    assert (report.created, list(report.ids[:2])) == ([False, False, True], [first, first])


def test_a_key_that_comes_twice_in_one_batch_makes_one_task_that_others_may_need(
    floor: Floor,
) -> None:
    task = NewTask("job", {"n": 1}, key="a")
    report = submit_tasks(
        [
            task,
            task,
            NewTask("other", {}, depends_on=[Dependency(1)]),
            NewTask("other", {}, key="a"),
        ]
    )
    assert report.created == [True, False, True, True], "a key belongs to its kind"
    assert report.ids[0] == report.ids[1]
    (edge,) = floor.task(report.ids[2]).dependencies.all()
    assert edge.depends_on_id == report.ids[0]
    assert floor.task(report.ids[0]).has_dependents
    floor.assert_counts_are_true()


def test_what_people_and_time_change_is_no_other_content(floor: Floor) -> None:
    floor.worker("w1", skills={"job": 1})
    task = submit_tasks([NewTask("job", {"n": 1}, key="k")]).ids[0]
    floor.round()
    floor.fail("w1", floor.claim("w1")[0], permanent=True)
    assert edit_and_requeue(task, 0, '{"n": 2}', Actor("op", role=Role.OPERATOR)).changes
    Task.objects.filter(id=task).update(priority=9, max_attempts=7)
    assert submit_tasks([NewTask("job", {"n": 1}, key="k")]).ids == [task]
    assert conflicts_of([NewTask("job", {"n": 2}, key="k")]) == [(0, "key")]


def test_a_task_from_before_this_comparison_is_compared_by_its_payload(floor: Floor) -> None:
    task = submit_tasks([FIRST]).ids[0]
    Task.objects.update(submitted=None)
    assert submit_tasks([FIRST]).ids == [task]
    assert conflicts_of([replace(FIRST, payload={"a": 2})]) == [(0, "key")]


def test_dependencies_are_compared_as_they_were_given_not_by_their_place(floor: Floor) -> None:
    def batch(*before: NewTask) -> list[NewTask]:
        need = NewTask("other", {}, key="need")
        task = NewTask("job", {}, key="k", depends_on=[Dependency(len(before))])
        return [*before, need, task]

    submit_tasks(batch())
    assert submit_tasks(batch(NewTask("job", "unkeyed"))).existing_count == 2
    by_id = NewTask("job", {}, key="l", depends_on=[Dependency(submit_tasks(batch()).ids[0])])
    submit_tasks([by_id])
    assert submit_tasks([by_id]).created == [False]
    assert conflicts_of([replace(by_id, depends_on=[])]) == [(0, "key")]


def test_a_conflict_beside_another_fault_is_told_with_it(floor: Floor) -> None:
    submit_tasks([FIRST])
    with pytest.raises(SubmissionInvalid) as refused:
        submit_tasks([replace(FIRST, priority=1), NewTask("jib", {})])
    assert not refused.value.is_conflict
    assert [(fault.index, fault.field) for fault in refused.value.faults] == [
        (0, "key"),
        (1, "kind"),
    ]


def test_a_faulty_item_takes_no_key_from_a_good_one(floor: Floor) -> None:
    with pytest.raises(SubmissionInvalid) as refused:
        submit_tasks([NewTask("job", {}, key="k", priority=9999), NewTask("job", 1, key="k")])
    assert [fault.field for fault in refused.value.faults] == ["priority"]


def statements(run: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as asked:
        run()
    return len(asked)


def test_repeats_cost_one_statement_however_many_they_are(floor: Floor) -> None:
    def batch(keys: int, times: int) -> list[NewTask]:
        return [NewTask("job", {"n": n}, key=f"{keys}-{n}") for n in range(keys)] * times

    plain = statements(lambda: submit_tasks(batch(300, 1)))
    assert statements(lambda: submit_tasks(batch(301, 2))) == plain + 1
    replayed = statements(lambda: submit_tasks(batch(301, 2)))
    assert replayed <= plain + 1


def test_the_loser_of_a_race_with_other_content_is_a_conflict(floor: Floor) -> None:
    lost: list[Any] = []

    def lose() -> None:
        try:
            lost.append(submit_tasks([NewTask("job", {"by": "loser"}, key="k")]))
        except SubmissionInvalid as refused:
            lost.append(refused.is_conflict)
        finally:
            connection.close()

    loser = threading.Thread(target=lose)
    with transaction.atomic():
        submit_tasks([NewTask("job", {"by": "winner"}, key="k")])
        loser.start()
        wait_for(somebody_waits_for_a_lock, "the loser waits for the winner's key")
    loser.join(15)
    assert lost == [True]


def test_a_rehearsal_of_many_batches_says_what_the_batches_would_do(floor: Floor) -> None:
    batches = [
        [NewTask("job", {"n": 1}, key="a"), NewTask("job", {}), NewTask("job", {"n": 1}, key="a")],
        [NewTask("job", {"n": 1}, key="a"), NewTask("job", {"n": 2}, key="b")],
        [NewTask("job", {"n": 2}, key="b"), NewTask("job", {"n": 3}, key="a")],
    ]

    def outcome(submit: Callable[[list[NewTask]], SubmitReport]) -> list[Any]:
        told: list[Any] = []
        for batch in batches:
            try:
                told.append(submit(batch).created)
            except SubmissionInvalid as refused:
                told.append([(fault.index, fault.field) for fault in refused.faults])
        return told

    with Rehearsal() as rehearsal:
        rehearsed = outcome(lambda batch: submit_tasks(batch, rehearsal=rehearsal))
    assert not Task.objects.exists()
    assert rehearsed == outcome(submit_tasks)
    assert rehearsed == [[True, True, False], [False, True], [(1, "key")]]


def test_a_jobs_key_with_another_plan_is_a_conflict(record: None) -> None:
    floor = JobFloor()
    floor.hire("w1", slots=4)
    plan = {"key": "k", "steps": [{"name": "x", "kind": "a", "payload": {"n": 1, "m": 2}}]}
    first = submit_job(plan)
    same = {"steps": [{"kind": "a", "payload": {"m": 2.0, "n": 1}, "name": "x"}], "key": "k"}
    assert submit_job(same).id == first.id
    assert not submit_job(same, dry_run=True).created
    for other in (
        {**plan, "priority": 3},
        {**plan, "steps": [{"name": "x", "kind": "a", "payload": {"n": 2, "m": 2}}]},
    ):
        for dry_run in (True, False):
            with pytest.raises(JobKeyTaken, match=f"another plan, as job {first.id}"):
                submit_job(other, dry_run=dry_run)


def test_a_bulks_key_with_another_act_is_a_conflict(floor: Floor) -> None:
    from tasks_app.core.actions.bulks import BulkAction, BulkOrder
    from tasks_app.services.actions.bulks import begin

    ids: list[UUID] = list(floor.submit(2))
    actor, key = Actor("op", role=Role.OPERATOR), uuid4().hex
    order = BulkOrder(BulkAction.PRIORITY, priority=5, key=key)
    first = begin(order, ids, actor)
    assert first is not None
    again = begin(order, ids, actor)
    assert again is not None
    assert again.id == first.id
    for other in (
        replace(order, priority=6),
        BulkOrder(BulkAction.CANCEL, reason="why", key=key),
    ):
        with pytest.raises(BulkKeyTaken, match=str(first.id)):
            begin(other, ids, actor)
