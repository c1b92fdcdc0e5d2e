"""The drawing of a job's graph: boxes, edges and the way back, in pixels, for the template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tasks_app.core.drawing.graph_layout import Layout, Route, lay_out
from tasks_app.core.drawing.page_room import LONGEST_CONDITION
from tasks_app.core.jobs.condition_words import condition_words
from tasks_app.core.jobs.plans import Plan, Step
from tasks_app.core.masking.hidden_conditions import shown_condition
from tasks_app.core.masking.redaction import Hidden
from tasks_app.core.states import FINAL, OnDead, Status
from tasks_app.store.reads.jobs.jobs import JobAnswer, StepAnswer, find_job, find_place
from tasks_app.store.reads.search.kinds import all_hidden
from tasks_app.translation import translated

WIDTH: Final = 176
HEIGHT: Final = 48
GAP: Final = 62
"""Between two layers, where the edges bend."""

ROW: Final = 74
MARGIN: Final = 16
BACK: Final = 26
"""Room under the lowest box for the way back."""

MOST_EDGES: Final = 3_000
"""Past that no eye follows an edge; the list of steps names them all."""

LONGEST_NAME: Final = 19
LONGEST_LINE: Final = 25


ON_DEAD: Final[Mapping[str, Promise]] = {
    OnDead.WAIT: gettext_lazy("%(step)s needs %(other)s; if that is dead, it waits for a human"),
    OnDead.FAIL: gettext_lazy("%(step)s needs %(other)s; if that is dead, it fails too"),
    OnDead.CONTINUE: gettext_lazy(
        "%(step)s needs %(other)s; if that is dead, it goes on without it"
    ),
}


@dataclass(frozen=True, slots=True)
class Box:
    """One step: where it stands (pixels), its status and its two lines; ``lit`` is the one meant.

    ``done`` of ``items`` where it stands for many; ``undo`` is the status of its compensation.
    """

    step: str
    task_id: UUID
    x: float
    y: float
    status: str
    name: str
    line: str
    title: str
    condition: str
    is_join: bool
    share: int
    undo: str
    lit: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge as an SVG path; ``on_dead`` chooses its dashes, ``met`` its weight."""

    path: str
    on_dead: str
    met: bool
    title: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """The whole picture; ``back`` are the paths from one step that is undone to the next."""

    job_id: UUID
    width: int
    height: int
    boxes: Sequence[Box]
    edges: Sequence[Edge]
    back: Sequence[str]
    left_out: int
    conditions: bool
    on_dead: Sequence[str]


def draw_task(task_id: UUID, hidden: Hidden | None = None) -> Drawing | None:
    """Draw the job of a task with the task's step lit; None where it belongs to no job.

    It is drawn for somebody from whom so much is ``hidden``: all that is, unless it is said.
    """
    found = find_place(task_id)
    answer = find_job(found.job_id) if found else None
    hidden = all_hidden() if hidden is None else hidden
    return draw_job(answer, hidden, lit=found.place) if found and answer else None


def draw_job(
    answer: JobAnswer, hidden: Hidden, *, lit: int | None = None, undone: Sequence[int] = ()
) -> Drawing:
    """Draw a job for somebody from whom so much is hidden.

    The step at the place ``lit`` is shown as the one meant; ``undone`` are the places of steps in
    the order in which they are undone.
    """
    plan = answer.plan
    layout = lay_out(tuple((s.name, tuple(need.on for need in s.needs)) for s in plan.steps))
    steps = {step.name: step for step in answer.steps}
    boxes = {
        step.name: _box(
            step, steps[step.name], layout, condition_of(plan, step, hidden), lit=place == lit
        )
        for place, step in enumerate(plan.steps)
    }
    routes = layout.routes[:MOST_EDGES]
    back = [boxes[plan.steps[place].name] for place in undone]
    return Drawing(
        job_id=answer.job.id,
        width=layout.layers * (WIDTH + GAP) - GAP + 2 * MARGIN,
        height=round((layout.rows - 1) * ROW) + HEIGHT + 2 * MARGIN + (BACK if back else 0),
        boxes=list(boxes.values()),
        edges=[_edge(route, plan, steps) for route in routes],
        back=[_way_back(one, other) for one, other in pairwise(back)],
        left_out=len(layout.routes) - len(routes),
        conditions=any(step.when is not None for step in plan.steps),
        on_dead=sorted({need.on_dead for step in plan.steps for need in step.needs}, reverse=True),
    )


def _left(layer: int) -> float:
    return MARGIN + layer * (WIDTH + GAP)


def _top(height: float) -> float:
    return round(MARGIN + height * ROW, 1)


def condition_of(plan: Plan, step: Step, hidden: Hidden) -> str:
    """When a step is done, in words, as somebody may read it."""
    if step.when is None:
        return ""
    kinds = {each.name: each.kind for each in plan.steps} if hidden else {}
    words = translated(condition_words(shown_condition(step.when, kinds, hidden)))
    return _short(words, LONGEST_CONDITION)


def _box(step: Step, answer: StepAnswer, layout: Layout, condition: str, *, lit: bool) -> Box:
    layer, height = layout.places[step.name]
    total, done = sum(answer.items.values()), answer.items.get(Status.COMPLETED, 0)
    counts = {"done": f"{done:,}", "total": f"{total:,}", "kind": step.kind}
    line = _("%(done)s of %(total)s %(kind)s") % counts if total else step.kind
    return Box(
        step=step.name,
        task_id=answer.task_id,
        x=_left(layer),
        y=_top(height),
        status=answer.shown_status,
        name=_short(step.name, LONGEST_NAME),
        line=_short(line, LONGEST_LINE),
        title=_title(step, answer, condition),
        condition=condition,
        is_join=step.is_join,
        share=round(100 * done / total) if total else 0,
        undo=undo_status(answer.compensations),
        lit=lit,
    )


def _title(step: Step, answer: StepAnswer, condition: str) -> str:
    said = [
        f"{step.name}: {answer.shown_status.lower()}",
        _("kind %(kind)s") % {"kind": step.kind},
    ]
    if answer.items:
        said.append(_counted(answer.items))
    if condition:
        said.append(_("only when %(condition)s") % {"condition": condition})
    if answer.compensations:
        said.append(_("undoing it: %(counts)s") % {"counts": _counted(answer.compensations)})
    elif step.compensation is not None:
        said.append(_("undone by %(kind)s") % {"kind": step.compensation.kind})
    return "\n".join(said)


def _counted(by_status: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {status.lower()}" for status, count in sorted(by_status.items()))


def undo_status(compensations: Mapping[str, int]) -> str:
    """One status for all compensations of a step: the worst that is open, else COMPLETED.

    >>> undo_status({"COMPLETED": 2, "RUNNING": 1}), undo_status({"COMPLETED": 2}), undo_status({})
    ('RUNNING', 'COMPLETED', '')
    """
    worst = (Status.DEAD, Status.FAILED, Status.RUNNING, Status.ASSIGNED, Status.PENDING)
    still = [status for status in worst if compensations.get(status)]
    ended = [status for status in FINAL if compensations.get(status)]
    return next(iter([*still, *ended]), "")


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _edge(route: Route, plan: Plan, steps: Mapping[str, StepAnswer]) -> Edge:
    step = plan.steps[plan.places[route.target]]
    on_dead = next(need.on_dead for need in step.needs if need.on == route.source)
    (first, height), *rest = route.points
    x, y = _left(first) + WIDTH, _top(height) + HEIGHT / 2
    parts = [f"M{x:g} {y:g}"]
    for layer, next_height in rest:
        to_x, to_y = _left(layer), _top(next_height) + HEIGHT / 2
        middle = (x + to_x) / 2
        parts.append(f"C{middle:g} {y:g} {middle:g} {to_y:g} {to_x:g} {to_y:g}")
        x, y = to_x, to_y
        if (layer, next_height) != route.points[-1]:
            # Straight on under the layer that it only passes.
            x += WIDTH
            parts.append(f"H{x:g}")
    return Edge(
        path="".join(parts),
        on_dead=on_dead,
        met=steps[route.source].status in (Status.COMPLETED, Status.SKIPPED),
        title=str(ON_DEAD[on_dead]) % {"step": route.target, "other": route.source},
    )


def _way_back(one: Box, other: Box) -> str:
    """From under one box to under the next one that is undone, below both."""
    x, y = one.x + WIDTH / 2, one.y + HEIGHT
    to_x, to_y = other.x + WIDTH / 2, other.y + HEIGHT
    low = max(y, to_y) + BACK
    return f"M{x:g} {y:g}C{x:g} {low:g} {to_x:g} {low:g} {to_x:g} {to_y:g}"
