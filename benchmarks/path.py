"""Enqueue, drain and pick-up: each subject in turn, several times over, so that noise is shared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any, Final

from benchmarks.product import Product
from benchmarks.stage import Stage, show
from benchmarks.stamps import Stamps
from benchmarks.subjects import Floor, Subject

SIZES: Final = ((100, 1), (100, 2), (500, 1), (500, 2))
"""(batch, workers); the batch is what one claim takes at most."""
RUNS_OF_ENQUEUE: Final = 3


@dataclass(slots=True)
class Figures:
    """What was measured, by what and by whom: each a list of runs."""

    by_case: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def add(self, case: str, subject: Subject, value: float) -> None:
        """Note one run."""
        self.by_case.setdefault(case, {}).setdefault(subject.name, []).append(value)

    def as_json(self) -> Mapping[str, Any]:
        """Medians, their range, and the ratio to the floor."""
        found: dict[str, Any] = {}
        for case, by_subject in self.by_case.items():
            base = median(by_subject["floor"]) if "floor" in by_subject else None
            found[case] = {
                name: {
                    "median": round(median(runs), 2),
                    "low": round(min(runs), 2),
                    "high": round(max(runs), 2),
                    "to_floor": round(median(runs) / base, 3) if base else None,
                }
                for name, runs in by_subject.items()
            }
        return found

    def show(self) -> None:
        """Print a line for each case and subject."""
        lines = [
            [case, name, *(f"{each[key]:,}" for key in ("median", "low", "high", "to_floor"))]
            for case, subjects in self.as_json().items()
            for name, each in subjects.items()
        ]
        show("The path", ("what", "who", "median", "low", "high", "to floor"), lines)


def measure_enqueue(stage: Stage, tasks: int, repeat: int) -> Figures:
    """Bulk submissions of 1,000 tasks, tasks a second."""
    figures = Figures()
    subjects: Sequence[Subject] = (Floor(stage), Product(stage), Product(stage, schema=True))
    for _ in range(repeat * RUNS_OF_ENQUEUE):
        for subject in subjects:
            subject.reset(1)
            stage.settle()
            figures.add("enqueue, tasks/s", subject, subject.enqueue(tasks))
    return figures


def measure_drain(stage: Stage, tasks: int, repeat: int) -> Figures:
    """A full queue through one and two workers, tasks a second, and D beside it."""
    figures = Figures()
    subjects: Sequence[Subject] = (Floor(stage), Product(stage), Product(stage, whole=True))
    for batch, workers in SIZES:
        for _ in range(repeat):
            for subject in subjects:
                drain = subject.drain(tasks, batch, workers)
                size = f"batch {batch}, {workers} worker{'s' * (workers > 1)}"
                figures.add(f"drain, tasks/s: {size}", subject, drain.rate)
                figures.add(f"D, us a task: {size}", subject, drain.dispatch_us)
    return figures


def measure_pick_up(stage: Stage, samples: int, repeat: int) -> Figures:
    """From a submission to its body on an idle worker, ms."""
    figures = Figures()
    subjects: Sequence[Subject] = (Floor(stage), Product(stage), Product(stage, whole=True))
    with Stamps(stage.folder) as stamps:
        for _ in range(repeat):
            for subject in subjects:
                found = subject.pick_up(samples, stamps)
                figures.add("pick-up p50, ms", subject, median(found))
                figures.add("pick-up p99, ms", subject, quantiles(found, n=100)[98])
    return figures


MEASURES: Final[Mapping[str, Callable[[Stage, int, int], Figures]]] = {
    "enqueue": measure_enqueue,
    "drain": measure_drain,
    "pick-up": measure_pick_up,
}
