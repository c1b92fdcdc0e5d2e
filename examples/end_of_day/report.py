"""What a day came to, read back from the record and from the invoice table."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from examples.end_of_day.books import count_duplicate_lines
from examples.end_of_day.plans import Day
from tasks_app.core.jobs.job_states import JOB_FINAL, JobStatus, Role
from tasks_app.core.states import FAILURES, Outcome, Status
from tasks_app.models import Attempt, Job, StepTask, Task
from tasks_app.store import sql

REDRIVEN: Final = (Outcome.NOT_NAMED, Outcome.WORKER_LOST, Outcome.TIMEOUT)

# Nothing can move without a sweep: nothing is ready or being handed on, and no worker names what
# is in flight.
STILL = """
SELECT NOT EXISTS (SELECT FROM task WHERE status = 'PENDING' AND waiting_on = 0)
   AND NOT EXISTS (SELECT FROM settled) AND NOT EXISTS (SELECT FROM job_news)
   AND NOT EXISTS (
       SELECT FROM lease l JOIN heartbeat h ON h.worker_id = l.worker_id
        WHERE l.started_at IS NULL OR l.started_at >= h.previous_at OR l.token = ANY (h.held))
"""


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of the lesson.

    ``redriven`` counts the steps that the supervisor took back; ``wasted`` those of them whose work
    had been done, which shows in that they completed when they were done again.
    """

    completed: int
    compensated_jobs: int
    compensated_steps: int
    half_finished: int
    redriven: int
    wasted: int
    duplicate_invoice_lines: int

    def as_json(self) -> dict[str, Any]:
        """The keys of ``--json``."""
        return asdict(self)

    def __str__(self) -> str:
        """A line for each figure."""
        return "\n".join(f"{name.replace('_', ' '):<24}{n:>6}" for name, n in asdict(self).items())


def read_report() -> Report:
    """Read everything back."""
    redriven = Attempt.objects.filter(outcome__in=REDRIVEN, started_at__isnull=False)
    undone = StepTask.objects.filter(role=Role.COMPENSATION, task__status=Status.COMPLETED)
    return Report(
        completed=Job.objects.filter(status=JobStatus.COMPLETED).count(),
        compensated_jobs=Job.objects.filter(status=JobStatus.COMPENSATED).count(),
        compensated_steps=undone.count(),
        half_finished=count_open(),
        redriven=redriven.count(),
        wasted=redriven.filter(task__status=Status.COMPLETED).count(),
        duplicate_invoice_lines=count_duplicate_lines(),
    )


def count_open() -> int:
    """Jobs that have not ended."""
    return Job.objects.exclude(status__in=JOB_FINAL).count()


def count_errors() -> int:
    """Attempts that reported an error, and tasks that wait for a human."""
    failed = Attempt.objects.filter(outcome__in=FAILURES).count()
    return failed + Task.objects.filter(status=Status.DEAD).count()


def is_still() -> bool:
    """Whether nothing moves any more without a sweep."""
    found = sql.row(STILL)
    return bool(found and found[0])


def faults_of(report: Report, day: Day) -> Sequence[str]:
    """Hold a supervised day against what is promised; each fault is a sentence."""
    promises = {
        f"{report.half_finished} jobs are half-finished": report.half_finished == 0,
        f"{report.completed} jobs are COMPLETED, not {day.jobs - day.persistent}": (
            report.completed == day.jobs - day.persistent
        ),
        f"{report.compensated_jobs} jobs are COMPENSATED, not {day.persistent}": (
            report.compensated_jobs == day.persistent
        ),
    }
    return [fault for fault, kept in promises.items() if not kept]
