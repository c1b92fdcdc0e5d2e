"""Jobs with their way back, in any order of calls, against the reference model."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tasks_app.core.jobs.job_states import JobPolicy, JobStatus, Role
from tasks_app.core.states import Status
from tasks_app.models import Job, StepTask, Task
from tasks_app.sdk.link import Grant
from tasks_app.services.actions import operations
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.dispatch.rounds import Deposed, run_round
from tasks_app.services.jobs import job_settling, jobs
from tasks_app.store.dispatch import leader
from tests.jobs import JobFloor
from tests.model.saga import CLOSED, Piece, Saga

picks = st.integers(0, 1000)
Key = tuple[UUID, str, int]
KINDS = {"s": "a", "u": "undo_a"}


class SagaRecord(RuleBasedStateMachine):
    """The machine; each example runs inside a transaction that is rolled back at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.outer = transaction.atomic()
        self.outer.__enter__()
        self.floor = JobFloor()
        self.sagas: dict[UUID, Saga] = {}
        self.held: dict[Key, Grant] = {}
        self.settled = True

    def teardown(self) -> None:
        """Forget everything that the example wrote."""
        transaction.set_rollback(True)
        self.outer.__exit__(None, None, None)

    @initialize()
    def open_the_floor(self) -> None:
        """Kinds that no number of lost workers condemns, and one worker with room."""
        for kind in ("a", "undo_a"):
            self.floor.kind(kind, max_attempts=100, poison_after=100)
        self.floor.hire("w1", slots=100)

    @rule(
        undoable=st.lists(st.booleans(), min_size=1, max_size=3), policy=st.sampled_from(JobPolicy)
    )
    def submit(self, undoable: list[bool], policy: JobPolicy) -> None:
        """A chain of steps."""
        steps: list[dict[str, Any]] = []
        for n, can in enumerate(undoable):
            after = [f"s{n - 1}"] if n else []
            step: dict[str, Any] = {"name": f"s{n}", "kind": "a", "depends_on": after}
            steps.append(step | ({"compensation": "undo_a"} if can else {}))
        self.sagas[self.floor.job(steps, on_dead=policy.value)] = Saga(undoable, policy)
        self.settled = False

    @rule()
    def look(self) -> None:
        """The supervisor works until nothing moves, and the worker takes what it is given."""
        self.floor.until_still()
        grants = self.floor.claim("w1")
        self.floor.until_still()
        for saga in self.sagas.values():
            saga.settle()
        rows = {row.task_id: key for key, row in self.rows().items()}
        self.held.update({rows[grant.task_id]: grant for grant in grants})
        self.settled = True

    def rows(self) -> dict[Key, StepTask]:
        """The tasks of all jobs by job, role and place."""
        found = StepTask.objects.filter(task__job_id__in=list(self.sagas)).select_related("task")
        return {
            (row.task.job_id, "s" if row.role == Role.STEP else "u", row.place): row
            for row in found
            if row.task.job_id is not None
        }

    def piece(self, key: Key) -> Piece:
        saga = self.sagas[key[0]]
        return saga.steps[key[2]] if key[1] == "s" else saga.undoing[key[2]]

    def _taken(self, pick: int) -> tuple[Key, Grant]:
        key = sorted(self.held)[pick % len(self.held)]
        return key, self.held.pop(key)

    @precondition(lambda self: self.held)
    @rule(pick=picks)
    def complete(self, pick: int) -> None:
        """The worker has done one; what it was asked to let go counts if it is done."""
        key, grant = self._taken(pick)
        assert self.floor.complete("w1", grant) == []
        if key[1] == "s":
            self.sagas[key[0]].complete(key[2])
        else:
            self.piece(key).end(Status.COMPLETED)
        self.settled = False

    @precondition(lambda self: self.held)
    @rule(pick=picks)
    def fail(self, pick: int) -> None:
        """The worker can never do it."""
        key, grant = self._taken(pick)
        assert self.floor.fail("w1", grant, permanent=True) == []
        self.piece(key).end(Status.DEAD)
        self.settled = False

    @precondition(lambda self: self.held)
    @rule(pick=picks)
    def release(self, pick: int) -> None:
        """The worker hands one back."""
        key, grant = self._taken(pick)
        self.floor.let_go("w1", grant)
        self.piece(key).end(Status.PENDING)
        self.settled = False

    @rule()
    def lose_the_worker(self) -> None:
        """Another boot replaces it; what it held goes back with the next sweep."""
        self.floor.hire("w1", slots=100)
        self.floor.round()
        for key in self.held:
            self.piece(key).end(Status.PENDING)
        self.held.clear()
        self.settled = False
        self.look()

    def _some(self, pick: int, *statuses: Status) -> Key | None:
        rows = self.rows()
        keys = sorted(key for key, row in rows.items() if row.task.status in statuses)
        return keys[pick % len(keys)] if keys else None

    @rule(pick=picks)
    def deadline_passes(self, pick: int) -> None:
        """The deadline of a step passes while it waits for the one before, or for its turn."""
        waiting = sorted(
            key
            for key, row in self.rows().items()
            if key[1] == "s" and row.task.status == Status.PENDING
        )
        if not waiting:
            return
        key = waiting[pick % len(waiting)]
        past = timezone.now() - timedelta(hours=1)
        Task.objects.filter(id=self.rows()[key].task_id).update(deadline_at=past)
        self.floor.round()
        self.piece(key).end(Status.DEAD)
        self.settled = False
        self.look()

    @rule(pick=picks)
    def cancel_task(self, pick: int) -> None:
        """A human cancels a step, or what undoes one."""
        key = self._some(pick, Status.PENDING, Status.RUNNING)
        if key is not None:
            cancel_tasks([self.rows()[key].task_id], self.floor.operator)
            self.piece(key).let_go()
            self.settled = False

    @rule(pick=picks, requeue=st.booleans())
    def decide(self, pick: int, requeue: bool) -> None:
        """A human decides about a dead letter."""
        key = self._some(pick, Status.DEAD)
        if key is None:
            return
        task = self.rows()[key].task_id
        if not requeue:
            assert operations.dismiss([task], self.floor.operator, "enough").done == {task}
            self.piece(key).status = Status.DISMISSED
        elif operations.requeue([task], self.floor.operator).done:
            self.piece(key).status = Status.PENDING
        else:
            before = self.sagas[key[0]].steps[key[2] - 1]
            assert before.status in CLOSED, "only a dependency that is closed for good forbids it"
        self.settled = False

    @precondition(lambda self: self.sagas)
    @rule(pick=picks)
    def compensate(self, pick: int) -> None:
        """A human has a job undone."""
        job, saga = self._saga(pick)
        can = not (saga.ended or saga.cancel_asked or saga.status is JobStatus.COMPENSATING)
        assert jobs.compensate_job(job, self.floor.operator) is can
        if can:
            saga.status = JobStatus.COMPENSATING
        self.settled = False

    @precondition(lambda self: self.sagas)
    @rule(pick=picks)
    def cancel_job(self, pick: int) -> None:
        """A human ends a job."""
        job, saga = self._saga(pick)
        can = not (saga.ended or saga.cancel_asked or saga.status is JobStatus.COMPENSATING)
        assert jobs.cancel_job(job, self.floor.operator) is can
        saga.cancel_asked |= can
        self.settled = False

    def _saga(self, pick: int) -> tuple[UUID, Saga]:
        job = sorted(self.sagas)[pick % len(self.sagas)]
        return job, self.sagas[job]

    @precondition(lambda self: self.sagas)
    @rule(pick=picks, paused=st.booleans())
    def pause(self, pick: int, paused: bool) -> None:
        """A human pauses a job, or has it go on."""
        job, saga = self._saga(pick)
        act = jobs.pause_job if paused else jobs.resume_job
        assert act(job, self.floor.operator) is (not saga.ended and saga.paused is not paused)
        if not saga.ended:
            saga.paused = paused
        self.settled = False

    @rule()
    def take_over(self) -> None:
        """Another replica leads; the old one's round comes to nothing."""
        old = self.floor.epoch
        leader.free(old)
        self.floor.lead()
        with pytest.raises(Deposed):
            run_round(old, 1, sweeping=True)

    @invariant()
    def the_record_is_what_the_model_says(self) -> None:
        """Once the supervisor has looked: each job, each step and what undoes them, in order."""
        self.floor.assert_sound()
        if not self.settled:
            return
        said: dict[Key, str] = {}
        for job, saga in self.sagas.items():
            said |= {(job, "s", n): _word(piece.status) for n, piece in enumerate(saga.steps)}
            said |= {(job, "u", n): _word(piece.status) for n, piece in saga.undoing.items()}
        rows = self.rows()
        assert {key: _word(Status(row.task.status)) for key, row in rows.items()} == said
        statuses = dict(Job.objects.values_list("id", "status"))
        assert statuses == {job: saga.status.value for job, saga in self.sagas.items()}


def _word(status: Status) -> str:
    """Whether a step was cancelled or dismissed depends on which of two rounds came first."""
    return "closed" if status in CLOSED else status.value


QUICK = settings(
    max_examples=10,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.timeout(400)
def test_jobs_go_on_and_back_in_any_order_of_calls_as_the_model_says(
    record: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Smaller than the jobs, so that other calls come between the portions of a pause.
    monkeypatch.setattr(jobs, "HELD_AT_ONCE", 1)
    monkeypatch.setattr(job_settling, "HELD_AT_ONCE", 1)
    run_state_machine_as_test(SagaRecord, settings=QUICK)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_orders_of_calls_move_jobs_as_the_model_says(record: None) -> None:
    run_state_machine_as_test(
        SagaRecord, settings=settings(QUICK, max_examples=300, stateful_step_count=60)
    )
