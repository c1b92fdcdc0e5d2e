"""A shop floor with jobs: the product's own calls, with short names, on the real record."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from tasks_app.core.jobs.job_states import JobStatus, Role
from tasks_app.core.states import Status
from tasks_app.models import Job, Kind, StepTask, Task
from tasks_app.sdk.link import Grant
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.jobs.jobs import submit_job
from tasks_app.services.people.people import Actor
from tasks_app.store.reads.invariants.record_invariants import find_violations
from tests.floor import Floor

KINDS = ("a", "b", "undo_a", "undo_b")
MOST_ROUNDS = 100


class JobFloor(Floor):
    """Kinds a and b with their compensations, one worker that can do all of them."""

    operator = Actor("op", "127.0.0.1")

    def hire(self, name: str, slots: int) -> UUID:
        """Register a worker for all kinds."""
        for kind in KINDS:
            Kind.objects.get_or_create(name=kind)
        return self.worker(name, slots=slots, skills=dict.fromkeys(KINDS, 1.0))

    def job(self, steps: Sequence[Mapping[str, Any]], **plan: Any) -> UUID:
        """Submit a job of these steps."""
        return submit_job({"steps": list(steps), **plan}).id

    def until_still(self) -> None:
        """Run rounds until nothing moves."""
        for _ in range(MOST_ROUNDS):
            if not self.round().moved:
                return
        raise AssertionError(f"still moving after {MOST_ROUNDS} rounds")

    def all_next(self) -> list[Grant]:
        """Start everything that can be started."""
        self.until_still()
        return self.claim("w1")

    def next(self) -> Grant:
        """Start the only thing that can be started."""
        (grant,) = self.all_next()
        return grant

    def let_go(self, name: str, grant: Grant) -> None:
        """Hand a started task back unfinished."""
        worker_protocol.release(self.workers[name], [grant.token])

    def job_status(self, job: UUID) -> JobStatus:
        """Where a job stands."""
        return JobStatus(Job.objects.get(id=job).status)

    def steps(self, job: UUID) -> dict[str, Status]:
        """The status of each step."""
        plan = Job.objects.get(id=job).plan
        tasks = StepTask.objects.filter(task__job_id=job, role__in=(Role.STEP, Role.JOIN))
        return {
            plan["steps"][each.place]["name"]: Status(each.task.status)
            for each in tasks.order_by("place").select_related("task")
        }

    def error_of(self, task: Task) -> str:
        """The message of a task's error."""
        assert task.error is not None
        return str(task.error["message"])

    def assert_sound(self) -> None:
        """Every invariant holds."""
        assert find_violations() == {}
