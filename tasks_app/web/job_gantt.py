"""The drawing of a job's attempts over time: a row a worker, a lane a slot in use."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from tasks_app.core.drawing.time_lanes import pack, ticks
from tasks_app.core.jobs.plans import Plan
from tasks_app.store.reads.jobs.job_progress import MOST_BARS, Bar

LANE: Final = 18
MOST_TICKS: Final = 8
SLACK: Final = 0.01
"""Of the time shown: nobody sees two bars overlap by less."""


@dataclass(frozen=True, slots=True)
class GanttBar:
    """One attempt: its place in percent of the time shown, its top in pixels, what it was."""

    bar: Bar
    step: str
    left: str
    width: str
    top: int
    seconds: float


@dataclass(frozen=True, slots=True)
class GanttRow:
    """One worker's attempts and how high (pixels) they stand together."""

    worker: str
    worker_id: UUID
    height: int
    bars: Sequence[GanttBar]


@dataclass(frozen=True, slots=True)
class Gantt:
    """All rows; ``ticks`` are (percent, seconds since the first attempt).

    ``cut``: there are older attempts, which are left out.
    """

    rows: Sequence[GanttRow]
    ticks: Sequence[tuple[str, float]]
    cut: bool


def draw_gantt(bars: Sequence[Bar], plan: Plan) -> Gantt | None:
    """Draw attempts, or None when there is none."""
    if not bars:
        return None
    began = min(bar.began for bar in bars)
    whole = max(max(bar.ended for bar in bars) - began, 0.001)
    by_worker: dict[str, list[Bar]] = {}
    for bar in bars:
        by_worker.setdefault(bar.worker, []).append(bar)
    return Gantt(
        rows=[_row(name, by_worker[name], plan, began, whole) for name in sorted(by_worker)],
        ticks=[(_percent(second / whole), second) for second in ticks(whole, MOST_TICKS)],
        cut=len(bars) == MOST_BARS,
    )


def _row(name: str, bars: Sequence[Bar], plan: Plan, began: float, whole: float) -> GanttRow:
    lanes = pack([(bar.began, bar.ended) for bar in bars], slack=SLACK * whole)
    return GanttRow(
        worker=name,
        worker_id=bars[-1].worker_id,
        height=(max(lanes) + 1) * LANE + 4,
        bars=[
            GanttBar(
                bar=bar,
                step=plan.steps[bar.place].name,
                left=_percent((bar.began - began) / whole),
                width=_percent((bar.ended - bar.began) / whole),
                top=lane * LANE + 2,
                seconds=bar.ended - bar.began,
            )
            for bar, lane in zip(bars, lanes, strict=True)
        ],
    )


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}%"
