"""What a night came to, read back from the record and from the files that the handlers wrote."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.db.models import Count, Max, Min, Q, QuerySet, Sum

from examples.ticket_triage import outbox
from examples.ticket_triage.kinds import CLASSIFY, DRAFT
from examples.ticket_triage.settings import TriageSettings
from examples.ticket_triage.tickets import Ticket
from tasks_app.core.states import UNFINISHED, Outcome, Status
from tasks_app.models import Attempt, Sample, Task

RECLAIMED: Final = (Outcome.WORKER_LOST, Outcome.NOT_NAMED, Outcome.TIMEOUT)
LOWEST_ACCURACY: Final = 0.8


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of one night; its fields are the keys of the JSON line.

    ``tickets`` are those with a text; ``completed``, ``waiting_on_dead`` and ``lost`` count tasks,
    ``dead`` by reason, ``executions`` logged starts of handlers, ``attempts`` leases that had begun
    when they ended, ``reclaims`` leases taken back, begun or not. ``duplicate_*`` count tickets.
    None: there was nothing to measure.
    """

    tickets: int
    completed: int
    dead: Mapping[str, int]
    waiting_on_dead: int
    lost: int
    in_flight_at_restart: int | None
    executions: int
    duplicate_results: int
    duplicate_effects: int
    duplicate_effects_without_key: int
    attempts: int
    reclaims: int
    accuracy: float | None
    wall_seconds: float
    tasks_per_second: float
    d_microseconds: float | None

    def as_json(self) -> dict[str, Any]:
        """The fields, in their order."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return "\n".join(f"{key:>30}  {value}" for key, value in self.as_json().items())


def waiting_on_dead() -> QuerySet[Task]:
    """Tasks that wait for a DEAD one, and for nothing else."""
    waiting = Task.objects.filter(status=Status.PENDING, dependencies__depends_on__status="DEAD")
    return waiting.exclude(dependencies__depends_on__status__in=UNFINISHED).distinct()


def count_open() -> int:
    """Count the tasks that may still move by themselves."""
    return Task.objects.filter(status__in=UNFINISHED).count() - waiting_on_dead().count()


def read_report(
    tickets: Sequence[Ticket], night: str, settings: TriageSettings, in_flight: int | None
) -> Report:
    """Read everything back about the tickets that were submitted under the name of a night."""
    completed = Task.objects.filter(status=Status.COMPLETED)
    times = Task.objects.aggregate(first=Min("created_at"), last=Max("finished_at"))
    seconds = (times["last"] - times["first"]).total_seconds() if times["last"] else 0.0
    return Report(
        tickets=sum(bool(ticket.text.strip()) for ticket in tickets),
        completed=completed.count(),
        dead=_dead_by_reason(),
        waiting_on_dead=waiting_on_dead().count(),
        lost=_count_lost(tickets, night),
        in_flight_at_restart=in_flight,
        executions=sum(1 for _ in outbox.read(settings.executions)),
        duplicate_results=_count_twice_completed(),
        duplicate_effects=_count_twice_written(settings.outbox),
        duplicate_effects_without_key=_count_twice_written(settings.outbox_without_key),
        attempts=Attempt.objects.filter(started_at__isnull=False).count(),
        reclaims=Attempt.objects.filter(
            Q(outcome__in=RECLAIMED)
            # A worker that fell silent before the supervisor was back is not to blame.
            | Q(outcome=Outcome.RELEASED, error__type="DatabaseAway")
        ).count(),
        accuracy=_accuracy(tickets, night),
        wall_seconds=round(seconds, 2),
        tasks_per_second=round(completed.count() / seconds, 1) if seconds else 0.0,
        d_microseconds=_d_microseconds(),
    )


def faults_of(
    report: Report, tickets: Sequence[Ticket], settings: TriageSettings, in_flight_needed: int
) -> Sequence[str]:
    """Hold a report against what a night promises; each fault is a sentence.

    ``in_flight_needed``: how much had to be in flight at the restart, 0 for a night without chaos.
    """
    malformed = len(tickets) - report.tickets
    unsent = _count_unsent(settings.outbox)
    promises = {
        f"{report.lost} tasks are lost": report.lost == 0,
        f"{report.completed} tasks are COMPLETED, not two for each ticket with a text": (
            report.completed == 2 * report.tickets
        ),
        f"DEAD are {dict(report.dead)}, not the {malformed} malformed tickets": (
            report.dead == ({"permanent": malformed} if malformed else {})
        ),
        f"{report.waiting_on_dead} tasks wait for a DEAD one, not {malformed}": (
            report.waiting_on_dead == malformed
        ),
        f"{report.duplicate_results} tickets were completed twice": report.duplicate_results == 0,
        f"{report.duplicate_effects} replies were sent twice": report.duplicate_effects == 0,
        f"{unsent} replies of completed drafts were never sent": unsent == 0,
        f"accuracy is {report.accuracy}, below {LOWEST_ACCURACY}": (
            report.accuracy is None or report.accuracy >= LOWEST_ACCURACY
        ),
    }
    if in_flight_needed:
        promises |= {
            f"{report.in_flight_at_restart} tasks in flight at the restart, not at least "
            f"{in_flight_needed}": (report.in_flight_at_restart or 0) >= in_flight_needed,
            "no reply was sent twice without its key: the night did not show the fault": (
                report.duplicate_effects_without_key > 0
            ),
            "nothing was reclaimed from the killed worker": report.reclaims > 0,
        }
    return [fault for fault, kept in promises.items() if not kept]


def _dead_by_reason() -> dict[str, int]:
    rows = Task.objects.filter(status=Status.DEAD).values_list("dead_reason")
    return {str(reason): count for reason, count in rows.annotate(Count("id"))}


def _count_lost(tickets: Sequence[Ticket], night: str) -> int:
    """Count what was submitted and is neither COMPLETED, DEAD, nor waiting for a DEAD one."""
    ended = Task.objects.filter(status__in=(Status.COMPLETED, Status.DEAD))
    accounted = {*ended.values_list("kind", "key"), *waiting_on_dead().values_list("kind", "key")}
    submitted = {(kind, f"{night}:{t.id}") for t in tickets for kind in (CLASSIFY, DRAFT)}
    return len(submitted - accounted)


def _count_twice_completed() -> int:
    completed = Attempt.objects.filter(outcome=Outcome.COMPLETED)
    twice = completed.values("task_id").annotate(times=Count("token")).filter(times__gt=1)
    return twice.values("task__key").distinct().count()


def _count_twice_written(path: Path) -> int:
    """Count the keys of an outbox that stand in it more than once; a key is one ticket's draft."""
    times = Counter(entry[outbox.KEY] for entry in outbox.read(path))
    return sum(count > 1 for count in times.values())


def _count_unsent(path: Path) -> int:
    drafted = Task.objects.filter(kind=DRAFT, status=Status.COMPLETED).values_list("id", flat=True)
    return len({str(task_id) for task_id in drafted} - {e[outbox.KEY] for e in outbox.read(path)})


def _accuracy(tickets: Sequence[Ticket], night: str) -> float | None:
    """Compare the labels found with those of the file; None where the file has none."""
    right = {f"{night}:{ticket.id}": ticket.label for ticket in tickets if ticket.label}
    found = Task.objects.filter(kind=CLASSIFY, status=Status.COMPLETED, key__in=right)
    hits = [label == right[str(key)] for key, label in found.values_list("key", "result__label")]
    return round(sum(hits) / len(hits), 4) if hits else None


def _d_microseconds() -> float | None:
    """Supervisor seconds per dispatched task, over all samples of a second."""
    sums = Sample.objects.filter(resolution=1).aggregate(Sum("dispatch_seconds"), Sum("dispatched"))
    if not sums["dispatched__sum"]:
        return None
    return round(1e6 * float(sums["dispatch_seconds__sum"]) / int(sums["dispatched__sum"]), 1)
