"""The plan of one seller's end of day, and which of its steps is rehearsed to fail, and how."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.dispatch.recovery import PERSISTENT, STALLED, STEPS

TARIFF, DISCOUNT, INVOICE, NOTIFICATION = STEPS
COMPENSATIONS: Final[Mapping[str, str]] = {
    TARIFF: "release_tariff",
    DISCOUNT: "revoke_discount",
    INVOICE: "void_invoice",
}
"""A notification cannot be unsent; it comes last."""

STALL: Final = "stall"
"""The work is done and its report is dropped, at the first attempt."""

NEVER: Final = "never"
"""No attempt ever does the work or reports."""


@dataclass(frozen=True, slots=True)
class Day:
    """How many jobs there are (numbered from 1), and which steps of them fail how."""

    jobs: int
    rehearsed: Mapping[tuple[int, str], str]

    @property
    def persistent(self) -> int:
        """How many jobs have a step that never passes."""
        return sum(how == NEVER for how in self.rehearsed.values())


def seed_day(jobs: int, stall_at: str | None = None) -> Day:
    """The lesson's own day: three stalls and one step that never passes."""
    stalls = {(job, stall_at or step): STALL for job, step in STALLED.items() if job <= jobs}
    never = {(job, step): NEVER for job, step in PERSISTENT.items() if job <= jobs}
    return Day(jobs, stalls | never)


def large_day(jobs: int, persistent: float, stall: float, stall_at: str | None = None) -> Day:
    """A share of the jobs never passes, a share of all steps stalls, in other jobs, spread evenly.

    >>> day = large_day(4000, 0.02, 0.005)
    >>> day.persistent, len(day.rehearsed) - day.persistent
    (80, 80)
    """
    failing = _spread(range(1, jobs + 1), round(jobs * persistent))
    rest = sorted(set(range(1, jobs + 1)) - set(failing))
    stalling = _spread(rest, round(jobs * len(STEPS) * stall))
    steps = [stall_at] if stall_at else list(STEPS)
    return Day(
        jobs,
        {(job, DISCOUNT): NEVER for job in failing}
        | {(job, steps[n % len(steps)]): STALL for n, job in enumerate(stalling)},
    )


def _spread(numbers: Sequence[int], count: int) -> list[int]:
    """So many of the numbers, at equal distances."""
    if count > len(numbers):
        raise ValueError(f"{count} jobs are to fail, there are {len(numbers)}")
    return [numbers[n * len(numbers) // count] for n in range(count)]


def plans_of(day: Day) -> Iterator[dict[str, Any]]:
    """The plan of each job."""
    for number in range(1, day.jobs + 1):
        yield plan_of(number, day.rehearsed)


def plan_of(number: int, rehearsed: Mapping[tuple[int, str], str]) -> dict[str, Any]:
    """Four steps, each with the result of the one before; what is done is undone by a failure."""
    seller = f"S{number}"

    def step(name: str, after: str | None, **payload: Any) -> dict[str, Any]:
        made: dict[str, Any] = {
            "name": name,
            "kind": name,
            "payload": {"seller": seller, **payload},
            "depends_on": [after] if after else [],
        }
        if (number, name) in rehearsed:
            made["payload"]["rehearse"] = rehearsed[number, name]
        if name in COMPENSATIONS:
            made["compensation"] = COMPENSATIONS[name]
        return made

    return {
        "name": f"end of day, {seller}",
        "key": f"end-of-day:{seller}",
        "on_dead": "compensate",
        "steps": [
            step(TARIFF, None, orders=10 + number % 7),
            step(DISCOUNT, TARIFF, amount={"$result": "tariff.amount"}),
            step(INVOICE, DISCOUNT, amount={"$result": "discount.amount"}),
            step(NOTIFICATION, INVOICE, amount={"$result": "invoice.amount"}),
        ],
        "result": {"seller": seller, "invoiced": {"$result": "invoice.amount"}},
    }
