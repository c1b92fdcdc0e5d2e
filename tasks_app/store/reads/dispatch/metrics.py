"""What monitoring asks for, from rollups and narrow tables: no task is counted or named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tasks_app.core.states import WorkerState
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.counts import KindCount, count_by_kind
from tasks_app.store.reads.dispatch.leader_status import Duty, read_duty
from tasks_app.store.reads.dispatch.series import Costs, read_costs, read_oldest

MOST_KINDS: Final = 200
"""Kinds that have figures of their own, by name; a monitor pays for each."""

LEASES: Final = "SELECT count(*), count(started_at) FROM lease"
WORKERS: Final = (
    "SELECT state, count(*), coalesce(sum(slots), 0) FROM worker"
    " WHERE state IN ('active', 'draining') GROUP BY state"
)


@dataclass(frozen=True, slots=True)
class Metrics:
    """The figures of one instant; ages and D in seconds, None where unknown."""

    counts: Sequence[KindCount]
    oldest_age: float | None
    duty: Duty
    costs: Costs
    assigned: int
    running: int
    workers: Mapping[str, int]
    slots: int


def read_metrics() -> Metrics:
    """Read them, in seven short statements."""
    leases = sql.row(LEASES) or (0, 0)
    workers = sql.rows(WORKERS)
    states = {state.value: 0 for state in (WorkerState.ACTIVE, WorkerState.DRAINING)}
    counts = count_by_kind()
    shown = set(sorted({entry.kind for entry in counts})[:MOST_KINDS])
    return Metrics(
        counts=[entry for entry in counts if entry.kind in shown],
        oldest_age=read_oldest().age,
        duty=read_duty(),
        costs=read_costs(),
        assigned=leases[0] - leases[1],
        running=leases[1],
        workers={**states, **{state: count for state, count, _ in workers}},
        slots=sum(slots for _, _, slots in workers),
    )
