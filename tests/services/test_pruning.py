"""Retention: what has been kept for long enough goes, and nothing that is still needed does."""

from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone

from tasks_app.core.settings.retention import Kept
from tasks_app.core.states import OnDead, Status
from tasks_app.models import (
    Attempt,
    Bulk,
    BulkItem,
    Death,
    Dependency,
    Effect,
    Job,
    Leader,
    Pruned,
    RetentionSettings,
    Sample,
    Task,
    TaskLog,
)
from tasks_app.sdk.link import Grant
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.actions.operations import dismiss
from tasks_app.services.dispatch.rounds import Deposed
from tasks_app.services.dispatch.sampler import Sampler
from tasks_app.services.intake import submission
from tasks_app.services.jobs.jobs import compensate_job
from tasks_app.services.people.people import Actor
from tasks_app.services.settings import pruning
from tasks_app.services.settings.pruning import Pruner
from tasks_app.store import sql
from tasks_app.store.reads.alerting import errors_to_tell
from tasks_app.store.reads.dispatch.counts import (
    completed_ever,
    completed_so_far,
    count_by_kind,
    count_by_status,
)
from tasks_app.store.reads.dispatch.series import completed_per_second
from tasks_app.store.reads.failures.dead_groups import read_histories
from tasks_app.store.reads.settings.configuration import days_kept
from tests.floor import Floor
from tests.jobs import JobFloor
from tests.races.conftest import Rival

OPERATOR = Actor("op", "127.0.0.1")
ENDS = {"task": "finished_at", "job": "finished_at", "bulk": "finished_at"}
OTHERS = {"death": "at", "late_result": "received_at", "near_miss": "at"}


def keep(**days: int) -> None:
    """Set for how many days each is kept; the rest for ever."""
    RetentionSettings.objects.filter(id=1).update(**{f"{what}_days": n for what, n in days.items()})


def days_pass(days: int) -> None:
    """Make everything that has ended so many days older."""
    for table, at in {**ENDS, **OTHERS}.items():
        sql.execute(
            f"UPDATE {table} SET {at} = {at} - %(days)s * interval '1 day' WHERE {at} IS NOT NULL",
            {"days": days},
        )


@pytest.fixture(autouse=True)
def nothing_refused_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """No sort of rows is pruned row by row because of another test."""
    monkeypatch.setattr("tasks_app.services.settings.pruning._row_by_row", set())


def prune(floor: Floor, batches: int = 50) -> int:
    """Take batches until a look finds nothing more; return how many rows went."""
    if not floor.epoch:
        floor.lead()
    pruner, gone = Pruner(), 0
    for _ in range(batches):
        gone += pruner.prune(floor.epoch, 60.0, busy=False)
        if pruner.due_in() > 30:
            return gone
    raise AssertionError("still pruning")


def completed(floor: Floor, count: int = 1, **values: Any) -> list[UUID]:
    """Tasks that a worker has completed."""
    ids = floor.submit(count, **values)
    complete_all(floor)
    return ids


def complete_all(floor: Floor) -> None:
    """Let a worker complete whatever is ready."""
    for grant in handed_out(floor):
        floor.complete("w1", grant, {"ok": True})


def handed_out(floor: Floor) -> list[Grant]:
    """Start whatever is ready."""
    if "w1" not in floor.workers:
        floor.worker("w1", slots=100)
    floor.round()
    return floor.claim("w1")


def dead(floor: Floor) -> UUID:
    """A task that a worker has failed for good."""
    (task,) = floor.submit(1, max_attempts=1)
    (grant,) = handed_out(floor)
    floor.fail("w1", grant)
    return task


def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten rows a batch, however fast they go."""
    monkeypatch.setattr("tasks_app.services.settings.pruning.FIRST_BATCH", 10)
    monkeypatch.setattr("tasks_app.services.settings.pruning.next_size", lambda size, seconds: size)


def test_nothing_goes_unless_an_admin_has_said_so(floor: Floor) -> None:
    completed(floor, 3)
    days_pass(10_000)
    assert set(days_kept().values()) == {None}
    assert prune(floor) == 0
    assert Task.objects.count() == 3


def test_completed_tasks_go_with_all_that_is_theirs_once_they_are_old(floor: Floor) -> None:
    old = completed(floor, 3)
    attempt = Attempt.objects.filter(task_id=old[0]).get()
    TaskLog.objects.create(token=attempt.token, task_id=old[0], lines=[[0, "INFO", "hello"]])
    Effect.objects.create(task_id=old[0], name="mail", token=attempt.token)
    days_pass(31)
    new = completed(floor, 2)
    keep(completed=30)
    assert prune(floor) == 3
    assert {task.id for task in Task.objects.all()} == set(new)
    assert Attempt.objects.count() == 2
    assert (TaskLog.objects.count(), Effect.objects.count()) == (0, 0)
    floor.assert_counts_are_true()
    floor.assert_invariants()


def test_each_status_has_a_time_of_its_own_and_dead_letters_stay(floor: Floor) -> None:
    (done,) = completed(floor)
    letter = dead(floor)
    (cancelled,) = floor.submit(1)
    cancel_tasks([cancelled], OPERATOR)
    days_pass(100)
    keep(closed=1)
    assert prune(floor) == 1
    assert {task.id for task in Task.objects.all()} == {done, letter}
    keep(completed=1, closed=1)
    assert prune(floor) == 1
    assert {task.id for task in Task.objects.all()} == {letter}
    keep(dead=1)
    assert prune(floor) == 1
    assert not Task.objects.exists()


@pytest.mark.parametrize("end", ["unfinished", "dead"])
def test_what_a_task_needs_stays_until_that_has_ended_itself(floor: Floor, end: str) -> None:
    (first,) = floor.submit(1)
    (second,) = floor.submit(1, needs=[(first, OnDead.WAIT)], max_attempts=1)
    complete_all(floor)
    if end == "dead":
        (grant,) = handed_out(floor)
        floor.fail("w1", grant)
    days_pass(31)
    keep(completed=30)
    assert prune(floor) == 0
    if end == "dead":
        dismiss([second], OPERATOR, "not needed")
    else:
        cancel_tasks([second], OPERATOR)
    assert prune(floor) == 1
    assert [task.id for task in Task.objects.all()] == [second]
    assert not Dependency.objects.exists()


def test_many_that_are_needed_do_not_hide_what_is_younger(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = floor.submit(30)
    floor.submit(1, kind="elsewhere", needs=[(task, OnDead.WAIT) for task in needed])
    complete_all(floor)
    floor.round()
    days_pass(10)
    others = completed(floor, 5)
    days_pass(31)
    keep(completed=30)
    small_batches(monkeypatch)
    assert prune(floor) == 5
    assert not Task.objects.filter(id__in=others).exists()


def test_the_key_of_a_task_that_has_gone_may_be_submitted_again(floor: Floor) -> None:
    floor.kind()
    first = submission.submit("job", {}, key="a")
    assert submission.submit("job", {}, key="a") == first
    floor.worker("w1")
    floor.round()
    floor.complete("w1", floor.claim("w1")[0])
    days_pass(31)
    keep(completed=30)
    prune(floor)
    again = submission.submit("job", {}, key="a")
    assert again != first
    assert Task.objects.get().key == "a"


def test_what_was_completed_in_a_second_is_not_less_for_what_went(floor: Floor) -> None:
    completed(floor, 5)
    sampler = Sampler()
    sampler.sample(floor.epoch, 60.0)
    assert completed_so_far()[0] == 5
    days_pass(31)
    keep(completed=30)
    prune(floor)
    sampler.sample(floor.epoch, 60.0)
    assert completed_so_far()[0] == 5
    (latest,) = sql.row("SELECT completed FROM sample ORDER BY at DESC LIMIT 1") or ()
    assert latest == 0
    assert count_by_status().get(Status.COMPLETED, 0) == 0


def test_the_pace_on_the_overview_is_not_less_for_what_went(floor: Floor) -> None:
    completed(floor, 5)
    Sampler().sample(floor.epoch, 60.0)
    sql.execute("UPDATE sample SET at = at - interval '10 seconds'")
    days_pass(31)
    keep(completed=30)
    assert prune(floor) == 5
    completed(floor, 10)
    ever = completed_ever(count_by_kind())
    assert ever == 15
    assert completed_per_second(ever, ago=10) == pytest.approx(1.0, rel=0.3)
    Sampler().sample(floor.epoch, 60.0)
    assert Sample.objects.latest("at").gone == 5


@pytest.mark.parametrize("hides", [True, False])
def test_what_must_be_masked_in_the_words_of_others_goes_after_them(
    floor: Floor, hides: bool
) -> None:
    floor.kind("job", redacted_keys=["card"] if hides else [])
    floor.worker("w1", slots=9, skills={"job": 1.0, "other": 1.0})
    (first,) = floor.submit(1)
    (second,) = floor.submit(1, kind="other", needs=[(first, OnDead.WAIT)])
    complete_all(floor)
    complete_all(floor)
    days_pass(31)
    Task.objects.filter(id=second).update(finished_at=timezone.now())
    keep(completed=30)
    assert prune(floor) == (0 if hides else 1)
    days_pass(31)
    assert prune(floor) == 1
    assert prune(floor) == (1 if hides else 0)
    assert not Task.objects.exists()


def test_each_sort_goes_in_its_turn_however_much_there_is_of_another(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(monkeypatch)
    completed(floor, 40)
    (cancelled,) = floor.submit(1)
    cancel_tasks([cancelled], OPERATOR)
    days_pass(31)
    keep(completed=30, closed=30)
    pruner = Pruner()
    gone = [pruner.prune(floor.epoch, 60.0, busy=True) for _ in range(6)]
    assert gone == [10, 1, 10, 10, 10, 0]
    floor.assert_counts_are_true()


def test_what_is_left_stays_once_its_setting_is_taken_back(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(monkeypatch)
    completed(floor, 40)
    days_pass(31)
    keep(completed=30)
    pruner = Pruner()
    assert pruner.prune(floor.epoch, 60.0, busy=True) == 10
    keep(completed=32)
    assert pruner.prune(floor.epoch, 60.0, busy=True) == 0
    keep(completed=30)
    pruner = Pruner()
    assert pruner.prune(floor.epoch, 60.0, busy=True) == 10
    RetentionSettings.objects.update(completed_days=None)
    assert pruner.prune(floor.epoch, 60.0, busy=True) == 0
    assert Task.objects.count() == 20


def test_a_leader_that_was_replaced_prunes_nothing(floor: Floor) -> None:
    completed(floor, 3)
    days_pass(31)
    keep(completed=30)
    old = floor.epoch
    Leader.objects.filter(id=1).update(epoch=old + 1)
    with pytest.raises(Deposed):
        Pruner().prune(old, 60.0, busy=False)
    assert Task.objects.count() == 3
    assert not Pruned.objects.exists()


def test_what_went_is_counted_by_the_hour(floor: Floor) -> None:
    completed(floor, 4)
    days_pass(31)
    keep(completed=30)
    prune(floor)
    (noted,) = Pruned.objects.all()
    assert (noted.what, noted.rows) == (Kept.COMPLETED, 4)
    assert noted.seconds > 0


def test_history_goes_by_a_time_of_its_own(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    small_batches(monkeypatch)
    letter = dead(floor)
    bulk = Bulk.objects.create(
        key="k",
        action="requeue",
        state="done",
        actor="op",
        begins_at="2020-01-01T00:00Z",
        look_at="2020-01-01T00:00Z",
        finished_at="2020-01-01T00:00Z",
        total=25,
        place=25,
        moved=25,
    )
    BulkItem.objects.bulk_create(
        BulkItem(bulk=bulk, place=place, task_id=letter, requeues=0, state="moved")
        for place in range(25)
    )
    days_pass(91)
    floor.assert_invariants()
    keep(history=90)
    assert prune(floor) == 1 + 1 + 25
    assert not any(model.objects.exists() for model in (Death, Bulk, BulkItem))
    assert Task.objects.count() == 1


def test_an_old_dead_letter_whose_deaths_went_is_no_new_error(floor: Floor) -> None:
    letter = Task.objects.get(id=dead(floor))
    assert letter.fingerprint
    assert read_histories([letter.fingerprint])[letter.fingerprint].is_new
    days_pass(91)
    keep(history=90)
    assert prune(floor) == 1
    history = read_histories([letter.fingerprint])[letter.fingerprint]
    assert not history.is_new
    assert [each.name for each in errors_to_tell(())] == []


def test_a_row_that_something_unknown_refers_to_does_not_stop_the_supervisor(
    floor: Floor, caplog: pytest.LogCaptureFixture
) -> None:
    completed(floor, 2)
    days_pass(31)
    keep(completed=30, history=30)
    sql.execute("CREATE TABLE strange (task_id uuid REFERENCES task (id) DEFERRABLE)")
    try:
        sql.execute("INSERT INTO strange SELECT id FROM task LIMIT 1")
        assert prune(floor) == 0
        assert Task.objects.count() == 2
        assert "completed cannot be pruned" in caplog.text
        assert prune(floor) == 1, "the next look goes row by row"
        assert list(sql.rows("SELECT task_id FROM strange")) == [(Task.objects.get().id,)]
    finally:
        sql.execute("DROP TABLE strange")
    floor.assert_counts_are_true()


@pytest.mark.parametrize("what", list(Kept))
def test_a_time_beyond_what_the_database_knows_does_not_stop_the_supervisor(
    floor: Floor, what: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    completed(floor, 2)
    keep(**{what: 3_000_000})
    assert prune(floor) == 0
    assert f"{what} cannot be pruned" in caplog.text


STEPS: list[dict[str, Any]] = [
    {"name": "one", "kind": "a", "compensation": {"kind": "undo_a"}},
    {"name": "two", "kind": "b", "depends_on": ["one"]},
]
FED = [{"name": f"s{n}", "kind": "a", "depends_on": [f"s{n - 1}"]} for n in range(1, 13)]
FAILING = {"name": "last", "kind": "b", "max_attempts": 1}


@pytest.fixture
def jobs(record: None) -> JobFloor:
    """A floor whose worker can do all kinds of jobs."""
    floor = JobFloor()
    floor.hire("w1", 10)
    return floor


def run(floor: JobFloor, job: UUID) -> None:
    """Complete every step of a job."""
    for _ in range(20):
        for grant in floor.all_next():
            floor.complete("w1", grant, {})
    assert Job.objects.get(id=job).finished_at is not None


def test_a_job_goes_with_all_its_tasks_and_not_by_their_status(jobs: JobFloor) -> None:
    old = jobs.job(STEPS)
    run(jobs, old)
    days_pass(31)
    keep(completed=1)
    assert prune(jobs) == 0
    new = jobs.job(STEPS)
    run(jobs, new)
    keep(completed=1, job=30)
    assert prune(jobs) == 3
    assert [job.id for job in Job.objects.all()] == [new]
    assert Task.objects.filter(job_id=new).count() == Task.objects.count() == 2
    jobs.assert_counts_are_true()
    jobs.assert_sound()


def test_a_job_stays_while_a_task_outside_it_needs_one_of_its_steps(jobs: JobFloor) -> None:
    job = jobs.job(STEPS)
    step = Task.objects.filter(job_id=job).order_by("id")[0]
    (outside,) = jobs.submit(1, kind="elsewhere", needs=[(step.id, OnDead.WAIT)])
    run(jobs, job)
    days_pass(31)
    keep(job=30)
    prune(jobs)
    assert Job.objects.count() == 1
    assert {step.id, outside} <= {task.id for task in Task.objects.all()}
    jobs.assert_sound()


def test_a_large_job_that_is_needed_does_not_hide_the_jobs_behind_it(
    jobs: JobFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = jobs.job([{**STEPS[0], "name": f"s{n}"} for n in range(12)])
    steps = Task.objects.filter(job_id=large).values_list("id", flat=True)
    jobs.submit(1, kind="elsewhere", needs=[(step, OnDead.WAIT) for step in steps])
    run(jobs, large)
    days_pass(1)
    run(jobs, jobs.job(STEPS))
    days_pass(31)
    keep(job=30)
    small_batches(monkeypatch)
    assert prune(jobs) == 3
    assert [job.id for job in Job.objects.all()] == [large]
    jobs.assert_sound()


def test_a_job_whose_steps_hide_values_goes_as_any_other(
    jobs: JobFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(jobs, jobs.job([{"name": "s0", "kind": "a"}, *FED]))
    jobs.kind("a", redacted_keys=["card"])
    days_pass(31)
    keep(job=30)
    small_batches(monkeypatch)
    assert prune(jobs) == 14
    assert (Task.objects.count(), Job.objects.count()) == (0, 0)


def test_an_open_job_stays_whatever_its_age(jobs: JobFloor) -> None:
    jobs.job(STEPS)
    jobs.complete("w1", jobs.next(), {})
    days_pass(31)
    keep(job=1, completed=1)
    assert prune(jobs) == 0
    assert Task.objects.count() == 2


def test_a_large_job_goes_in_batches_and_no_way_back_is_torn_apart(
    jobs: JobFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = jobs.job([{**STEPS[0], "name": f"s{n}"} for n in range(10)] + [FAILING])
    for grant in jobs.all_next():
        if grant.kind == "b":
            jobs.fail("w1", grant)
        else:
            jobs.complete("w1", grant, {})
    jobs.until_still()
    assert compensate_job(job, jobs.operator, "wrong")
    for _ in range(20):
        for grant in jobs.all_next():
            jobs.complete("w1", grant, {})
    assert jobs.job_status(job) == "COMPENSATED"
    days_pass(31)
    keep(job=30)
    small_batches(monkeypatch)
    Pruner().prune(jobs.epoch, 60.0, busy=False)
    assert Task.objects.count() == 1, "ten steps went, each with what undid it"
    jobs.assert_sound()
    prune(jobs)
    assert (Task.objects.count(), Job.objects.count()) == (0, 0)
    jobs.assert_counts_are_true()


def test_pruning_waits_for_nobody_and_leaves_what_is_locked_with_what_undid_it(
    jobs: JobFloor,
) -> None:
    job = jobs.job([STEPS[0], FAILING])
    for grant in jobs.all_next():
        if grant.kind == "b":
            jobs.fail("w1", grant)
        else:
            jobs.complete("w1", grant, {})
    jobs.until_still()
    assert compensate_job(job, jobs.operator, "wrong")
    jobs.complete("w1", jobs.next(), {})
    jobs.until_still()
    days_pass(31)
    keep(job=30)
    undone = Task.objects.get(kind="a")
    with transaction.atomic():
        Task.objects.select_for_update().get(id=undone.id)
        assert Rival(lambda: Pruner().prune(jobs.epoch, 60.0, busy=False)).join() == 1
    assert {task.kind_id for task in Task.objects.all()} == {"a", "undo_a"}
    assert prune(jobs) == 3
    jobs.assert_sound()


def test_a_task_with_many_dependents_goes_in_portions_once_all_of_them_ended(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "EDGES_AT_ONCE", 10)
    (first,) = floor.submit()
    floor.submit(25, needs=[(first, OnDead.WAIT)])
    complete_all(floor)
    (waiting,) = floor.submit(needs=[(first, OnDead.WAIT)], kind="later")
    Task.objects.filter(id=first).update(has_dependents=True)
    days_pass(31)
    complete_all(floor)
    keep(completed=30)
    assert prune(floor) == 0
    assert Task.objects.filter(id=first).exists(), "one that waits needs it"
    cancel_tasks([waiting], OPERATOR)
    assert prune(floor) == 1
    assert not Task.objects.filter(id=first).exists()
    assert not Dependency.objects.exists()
    floor.assert_invariants()
