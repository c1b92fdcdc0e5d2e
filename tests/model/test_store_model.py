"""Every call in any order on the real record, against the reference model and the invariants."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
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

from tasks_app.core.facts import ErrorFacts
from tasks_app.core.settings.retention import STATUSES, Kept
from tasks_app.core.states import UNFINISHED, OnDead, Status
from tasks_app.models import RetentionSettings, SupervisorSettings, Task
from tasks_app.sdk.link import Failure, Grant, WorkerUnknown
from tasks_app.services.actions import operations
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.dispatch.rounds import Deposed, run_round
from tasks_app.services.people.people import Actor
from tasks_app.services.settings.pruning import Pruner
from tasks_app.store.dispatch import breakers, leader
from tests.floor import Floor
from tests.model.reference import ModelTask

OPERATOR = Actor("model")
NAMES = ("w1", "w2", "w3")
picks = st.integers(min_value=0, max_value=10_000)


class Record(RuleBasedStateMachine):
    """The machine; each example runs inside a transaction that is rolled back at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.outer = transaction.atomic()
        self.outer.__enter__()
        self.floor = Floor()
        self.tasks: dict[UUID, ModelTask] = {}
        self.grants: list[tuple[UUID, Grant]] = []
        self.silent: set[UUID] = set()
        self.replaced: set[UUID] = set()
        self.old_epochs: list[int] = []

    def teardown(self) -> None:
        """Forget everything that the example wrote."""
        transaction.set_rollback(True)
        self.outer.__exit__(None, None, None)

    @initialize(backlog=st.sampled_from([0.0, 1.0, None]))
    def open_the_floor(self, backlog: float | None) -> None:
        """One kind, a leader, and settings that vary."""
        SupervisorSettings.objects.filter(id=1).update(backlog=backlog)
        self.floor.kind("job")
        self.floor.lead()

    @rule(
        attempts=st.integers(1, 3),
        needs=st.lists(st.tuples(picks, st.sampled_from(OnDead)), max_size=2),
    )
    def submit(self, attempts: int, needs: list[tuple[int, OnDead]]) -> None:
        """A new task, which may depend on earlier ones that have not been closed."""
        known = [
            t
            for t in self.tasks.values()
            if t.status not in (Status.DISMISSED, Status.CANCELLED, Status.COMPLETED, Status.DEAD)
        ]
        edges = {known[n % len(known)].id: policy for n, policy in needs} if known else {}
        (task,) = self.floor.submit(needs=list(edges.items()), max_attempts=attempts)
        self.tasks[task] = ModelTask(task, attempts, edges)

    @rule(name=st.sampled_from(NAMES), slots=st.integers(1, 3))
    def boot(self, name: str, slots: int) -> None:
        """A worker starts; an older boot of its name is gone from now on."""
        older = self.floor.workers.get(name)
        if older is not None and older not in self.silent:
            self.replaced.add(older)
        self.floor.worker(name, slots)

    @rule(sweeping=st.booleans())
    def round(self, sweeping: bool) -> None:
        """The leader's round; what it lost and assigned is read back and judged."""
        report = self.floor.round(sweeping=sweeping)
        for task in self.tasks.values():
            if sweeping and task.held and task.held[0] in self.silent:
                task.lose(task.held[0])
            elif sweeping and task.held and task.held[0] in self.replaced:
                task.lose_to_successor(task.held[0])
        self._read_back(settled=True)
        assert report.dispatched >= 0

    def _read_back(self, *, settled: bool) -> None:
        """Take over from the record what the model leaves to the strategy: who gets what."""
        for row in Task.objects.filter(id__in=list(self.tasks)):
            task = self.tasks[row.id]
            if task.status is Status.PENDING and row.status == Status.ASSIGNED:
                assert all(self._lets_pass(i, policy) for i, policy in task.needs.items())
                task.status = Status.ASSIGNED
                assert row.assigned_to_id is not None
                assert row.token is not None
                task.held = (row.assigned_to_id, row.token)
            elif settled and task.status is Status.PENDING and row.status == Status.DEAD:
                assert row.dead_reason == "dependency"
                assert any(self._kills(i, policy) for i, policy in task.needs.items())
                task.status = Status.DEAD

    def _lets_pass(self, needed: UUID, policy: OnDead) -> bool:
        status = self.tasks[needed].status
        if status is Status.COMPLETED:
            return True
        # It may have been requeued since its death let the dependent pass.
        return policy is OnDead.CONTINUE

    def _kills(self, needed: UUID, policy: OnDead) -> bool:
        status = self.tasks[needed].status
        if policy is OnDead.FAIL:
            return status is not Status.COMPLETED
        return policy is OnDead.WAIT and status in (Status.DISMISSED, Status.CANCELLED)

    @precondition(lambda self: self.floor.workers)
    @rule(pick=picks, limit=st.integers(1, 3))
    def claim(self, pick: int, limit: int) -> None:
        """A worker begins what is assigned to it; a boot that is gone gets nothing."""
        worker = self._worker(pick)
        for grant in worker_protocol.claim(worker, limit):
            task = self.tasks[grant.task_id]
            assert task.status is Status.ASSIGNED
            assert task.held == (worker, grant.token)
            task.claim()
            assert grant.attempt == task.attempts
            self.grants.append((worker, grant))

    def _worker(self, pick: int) -> UUID:
        workers = list(self.floor.workers.values())
        return workers[pick % len(workers)]

    def _report(
        self, pick: int, send: Callable[[UUID, Grant], list[int]], then: Callable[[ModelTask], None]
    ) -> None:
        """A report under any grant ever given, stale ones included."""
        worker, grant = self.grants[pick % len(self.grants)]
        task = self.tasks[grant.task_id]
        accepted = task.holds(grant, worker)
        stale = send(worker, grant)
        assert (stale == []) is accepted
        if accepted:
            then(task)

    @precondition(lambda self: self.grants)
    @rule(pick=picks)
    def complete(self, pick: int) -> None:
        """Report a result."""
        from tasks_app.sdk.link import Completion

        self._report(
            pick,
            lambda worker, g: worker_protocol.complete(worker, [Completion(g.task_id, g.token, 1)]),
            ModelTask.complete,
        )

    @precondition(lambda self: self.grants)
    @rule(pick=picks, permanent=st.booleans(), crashed=st.booleans())
    def fail(self, pick: int, permanent: bool, crashed: bool) -> None:
        """Report a failure."""
        error = ErrorFacts("builtins.TimeoutError", "no answer", permanent=permanent)
        self._report(
            pick,
            lambda worker, g: worker_protocol.fail(
                worker, [Failure(g.task_id, g.token, error, crashed=crashed)]
            ),
            lambda task: task.fail(permanent=permanent, crashed=crashed),
        )

    @precondition(lambda self: self.grants)
    @rule(pick=picks)
    def release(self, pick: int) -> None:
        """Hand a task back."""
        worker, grant = self.grants[pick % len(self.grants)]
        task = self.tasks[grant.task_id]
        held = task.holds(grant, worker)
        worker_protocol.release(worker, [grant.token])
        if held:
            task.release()

    @precondition(lambda self: self.floor.workers)
    @rule(pick=picks)
    def beat(self, pick: int) -> None:
        """A sign of life that names everything held; a lost boot is told so."""
        worker = self._worker(pick)
        held = [g for w, g in self.grants if w == worker and self.tasks[g.task_id].holds(g, w)]
        try:
            orders = worker_protocol.heartbeat(worker, [g.token for g in held], [])
        except WorkerUnknown:
            return
        self.silent.discard(worker)
        assert list(orders.lost) == []
        assert set(orders.cancel) == {g.token for g in held if self.tasks[g.task_id].cancel_asked}

    @precondition(lambda self: self.floor.workers)
    @rule(pick=picks)
    def silence(self, pick: int) -> None:
        """A worker gives no sign of life for longer than a lease lasts."""
        name = sorted(self.floor.workers)[pick % len(self.floor.workers)]
        self.floor.silence(name, 100)
        self.silent.add(self.floor.workers[name])

    @rule()
    def backoff_ends(self) -> None:
        """All retries come due; the next sweep promotes them."""
        with connection.cursor() as cursor:
            cursor.execute("UPDATE task SET run_at = statement_timestamp() WHERE status = 'FAILED'")
        self.floor.round(sweeping=True)
        for task in self.tasks.values():
            if task.held and task.held[0] in self.silent:
                task.lose(task.held[0])
            elif task.held and task.held[0] in self.replaced:
                task.lose_to_successor(task.held[0])
            elif task.status is Status.FAILED:
                task.status = Status.PENDING
        self._read_back(settled=True)

    @precondition(lambda self: self.tasks)
    @rule(pick=picks)
    def deadline_passes(self, pick: int) -> None:
        """A task's deadline passes, wherever the task stands; a requeue lifts it."""
        task = self._task(pick)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE task SET deadline_at = statement_timestamp() - interval '1 second'"
                " WHERE id = %s",
                [task.id],
            )
        self.floor.round(sweeping=True)
        for each in self.tasks.values():
            if each.held and each.held[0] in self.silent:
                each.lose(each.held[0])
        if task.status in UNFINISHED:
            task.overdue()
        self._read_back(settled=True)

    @precondition(lambda self: self.tasks)
    @rule(pick=picks)
    def cancel(self, pick: int) -> None:
        """Cancel any task."""
        task = self._task(pick)
        cancel_tasks([task.id], OPERATOR)
        task.cancel()

    def _task(self, pick: int) -> ModelTask:
        return list(self.tasks.values())[pick % len(self.tasks)]

    @precondition(lambda self: self.tasks)
    @rule(pick=picks)
    def requeue(self, pick: int) -> None:
        """Requeue any task; twice is once."""
        task = self._task(pick)
        if task.gone:
            assert not operations.requeue([task.id], OPERATOR).done
            return
        done = operations.requeue([task.id, task.id], OPERATOR).done
        assert not done or task.status is Status.DEAD
        if done:
            task.requeue()
        elif task.status is Status.DEAD:
            assert any(
                self.tasks[i].status in (Status.DISMISSED, Status.CANCELLED) for i in task.needs
            )

    @precondition(lambda self: self.tasks)
    @rule(pick=picks)
    def dismiss(self, pick: int) -> None:
        """Dismiss any task."""
        task = self._task(pick)
        done = operations.dismiss([task.id], OPERATOR, "model").done
        assert bool(done) is (task.status is Status.DEAD and not task.gone)
        if done:
            task.status = Status.DISMISSED

    @rule(kept=st.sets(st.sampled_from(list(STATUSES))))
    def prune(self, kept: set[Kept]) -> None:
        """A month passes for what has ended; all of it goes but these sorts, and what is needed."""
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE task SET finished_at = finished_at - interval '31 days'"
                " WHERE finished_at IS NOT NULL"
            )
        days = {what.setting: None if what in kept else 30 for what in STATUSES}
        RetentionSettings.objects.filter(id=1).update(**days)
        pruner = Pruner()
        while pruner.due_in() < 30:
            pruner.prune(self.floor.epoch, 60.0, busy=False)
        for what, statuses in STATUSES.items():
            there = [task for task in self.tasks.values() if not task.gone]
            needed = {
                needed
                for task in there
                if task.status in UNFINISHED or task.status is Status.DEAD
                for needed in task.needs
            }
            for task in there:
                if what not in kept and task.status in statuses and task.id not in needed:
                    task.gone = True

    @rule(paused=st.booleans())
    def pause(self, paused: bool) -> None:
        """Pause the kind, or let it go on."""
        breakers.pause_kind("job", paused)

    @rule()
    def take_over(self) -> None:
        """The lease runs out and another replica leads; the old leader's round comes to nothing."""
        self.old_epochs.append(self.floor.epoch)
        leader.free(self.floor.epoch)
        self.floor.lead()
        before = dict(Task.objects.values_list("id", "status"))
        with pytest.raises(Deposed):
            run_round(self.old_epochs[-1], 1, sweeping=True)
        assert dict(Task.objects.values_list("id", "status")) == before

    @invariant()
    def the_record_is_what_the_model_says(self) -> None:
        """Status, attempts and token of every task; and everything that must always hold."""
        self.floor.assert_invariants()
        rows: dict[Any, Any] = {
            row.id: (row.status, row.attempts, row.requeues)
            for row in Task.objects.filter(id__in=list(self.tasks))
        }
        model = {
            task.id: (task.status.value, task.attempts, task.requeues)
            for task in self.tasks.values()
            if not task.gone
        }
        assert rows == model


QUICK = settings(
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def test_any_order_of_calls_does_what_the_model_says(record: None) -> None:
    run_state_machine_as_test(Record, settings=QUICK)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_orders_of_calls_do_what_the_model_says(record: None) -> None:
    run_state_machine_as_test(
        Record, settings=settings(QUICK, max_examples=400, stateful_step_count=60)
    )
