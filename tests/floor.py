"""A shop floor for tests: the product's own calls, with short names, on the real record."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from tasks_app.core.facts import ErrorFacts
from tasks_app.core.states import EdgeState, OnDead, Status
from tasks_app.models import Attempt, Kind, Leader, SupervisorSettings, Task
from tasks_app.models.ids import new_id
from tasks_app.sdk.link import Completion, Failure, Grant, Registration
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.dispatch.rounds import RoundReport, run_round
from tasks_app.store.dispatch import leader
from tasks_app.store.intake import submission
from tasks_app.store.intake.submission import EdgeRow, TaskRow
from tasks_app.store.reads.dispatch.counts import count_by_status
from tasks_app.store.reads.invariants.record_invariants import find_violations


@dataclass
class Floor:
    """Holds the epoch of the leader that the test plays, and counts its rounds."""

    epoch: int = 0
    rounds: int = 0
    workers: dict[str, UUID] = field(default_factory=dict)

    def settings(self, **values: Any) -> None:
        """Change the supervisor's settings."""
        SupervisorSettings.objects.filter(id=1).update(**values)

    def kind(self, name: str = "job", **values: Any) -> Kind:
        """Make or change a kind."""
        return Kind.objects.update_or_create(name=name, defaults=values)[0]

    def worker(self, name: str, slots: int = 1, skills: Mapping[str, float] | None = None) -> UUID:
        """Register a boot of a worker."""
        registered = worker_protocol.register(Registration(name, slots, skills or {"job": 1.0}))
        self.workers[name] = registered.worker_id
        return registered.worker_id

    def submit(
        self,
        count: int = 1,
        *,
        kind: str = "job",
        estimates: Sequence[float] | None = None,
        needs: Sequence[tuple[UUID, OnDead]] = (),
        **values: Any,
    ) -> list[UUID]:
        """Insert tasks; ``needs`` are dependencies of each of them."""
        Kind.objects.get_or_create(name=kind)
        ids = [new_id() for _ in range(len(estimates) if estimates else count)]
        submission.lock_dependencies([task for task, _ in needs])
        submission.insert_tasks(
            [
                TaskRow(
                    id=task_id,
                    kind=kind,
                    payload=json.dumps({"n": n}),
                    estimate_seconds=estimates[n] if estimates else None,
                    waiting_on=len(needs),
                    dependency_count=len(needs),
                    **values,
                )
                for n, task_id in enumerate(ids)
            ]
        )
        submission.insert_edges(
            [
                EdgeRow(task_id, needed, f"input{n}", on_dead, EdgeState.WAITING)
                for task_id in ids
                for n, (needed, on_dead) in enumerate(needs)
            ]
        )
        return ids

    def lead(self) -> int:
        """Take the leader lease."""
        epoch = leader.acquire("test", 60)
        assert epoch is not None, "another leader holds the lease"
        self.epoch = epoch
        return epoch

    def round(self, *, sweeping: bool = True) -> RoundReport:
        """Run one round under this floor's epoch."""
        if not self.epoch:
            self.lead()
        self.rounds += 1
        return run_round(self.epoch, self.rounds, sweeping=sweeping)

    def claim(self, name: str, limit: int = 100) -> list[Grant]:
        """Start what is assigned to a worker."""
        return worker_protocol.claim(self.workers[name], limit)

    def complete(self, name: str, grant: Grant, result: Any = None) -> list[int]:
        """Report a result; returns the stale tokens."""
        return worker_protocol.complete(
            self.workers[name], [Completion(grant.task_id, grant.token, result)]
        )

    def fail(self, name: str, grant: Grant, *, timed_out: bool = False, **error: Any) -> list[int]:
        """Report a failure; returns the stale tokens."""
        facts = ErrorFacts(**{"type": "builtins.TimeoutError", "message": "no answer", **error})
        return worker_protocol.fail(
            self.workers[name], [Failure(grant.task_id, grant.token, facts, timed_out=timed_out)]
        )

    def beat(self, name: str, *grants: Grant) -> Any:
        """Give a sign of life that names these grants."""
        return worker_protocol.heartbeat(self.workers[name], [g.token for g in grants], [])

    def silence(self, name: str, seconds: float) -> None:
        """Make the worker's last sign of life so many seconds old, by the database's clock."""
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE heartbeat SET at = at - %(s)s * interval '1 second',"
                " previous_at = previous_at - %(s)s * interval '1 second' WHERE worker_id = %(w)s",
                {"s": seconds, "w": self.workers[name]},
            )

    def end_holds(self) -> None:
        """Bring the end of every bulk's hold, and its next look, to this moment."""
        with connection.cursor() as cursor:
            cursor.execute("UPDATE bulk SET look_at = now(), begins_at = least(begins_at, now())")

    def work_off(self, rounds: int = 50) -> None:
        """Let every bulk begin, and run rounds until none moves any more."""
        for _ in range(rounds):
            self.end_holds()
            if not self.round().bulks:
                return

    def started_ago(self, grant: Grant, seconds: float) -> None:
        """Make a lease look as if it had been started so many seconds earlier."""
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE lease SET started_at = started_at - %(s)s * interval '1 second'"
                " WHERE token = %(t)s",
                {"s": seconds, "t": grant.token},
            )

    def backoff_over(self, task: UUID) -> None:
        """Bring a FAILED task's retry due."""
        with connection.cursor() as cursor:
            cursor.execute("UPDATE task SET run_at = now() WHERE id = %s", [task])

    def task(self, task: UUID) -> Task:
        """The task as the record shows it."""
        return Task.objects.get(id=task)

    def status(self, task: UUID) -> Status:
        """The task's status."""
        return Status(self.task(task).status)

    def attempts(self, task: UUID) -> list[tuple[str, str]]:
        """(outcome, worker name) of each attempt on record, oldest first."""
        return [
            (a.outcome, a.worker.name)
            for a in Attempt.objects.filter(task_id=task).order_by("token").select_related("worker")
        ]

    def assert_counts_are_true(self) -> None:
        """The rollup says what counting the table says."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT status, count(*) FROM task GROUP BY status")
            counted = dict(cursor.fetchall())
        assert {s: n for s, n in count_by_status().items() if n} == counted

    def assert_invariants(self) -> None:
        """Everything that must hold of the record holds."""
        found = find_violations()
        assert found == {}, found

    def leader(self) -> Leader:
        """The leader lease's row."""
        return Leader.objects.get(id=1)
