"""Where the dependencies of new tasks point, judged when they are written and at the very end.

The tasks that new ones depend on are locked last, for an instant: a submission may take seconds,
and neither the worker of such a task nor the supervisor may wait for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from tasks_app.core.intake.new_tasks import (
    Dependency,
    KeyRef,
    NewTask,
    TaskFault,
    shown,
)
from tasks_app.core.intake.task_checks import faults_of_inputs, place_in_batch
from tasks_app.core.jobs.dependencies import OPEN_EDGES, Fate, judge_edge
from tasks_app.core.states import OnDead, Status
from tasks_app.services.intake.admission import Admission
from tasks_app.store.intake import dependencies, needed_tasks
from tasks_app.store.intake import submission as store
from tasks_app.store.intake.needed_tasks import RecordedTask
from tasks_app.store.intake.submission import EdgeRow, KeyHolder

NEVER_RUNS: Final = (
    "that task is {status}, so that this one would never run; "
    "requeue it first, leave it out, or give on_dead: continue"
)


@dataclass(slots=True)
class NewEdges:
    """The edges to insert, and what they mean for the tasks of the batch by their index.

    ``waiting_on`` counts the edges that hold a task back; ``awaited`` are those waited for.
    ``recorded`` are the tasks on record to which they point, with the statuses they were judged by.
    """

    waiting_on: list[int]
    rows: list[EdgeRow] = field(default_factory=list)
    recorded: dict[UUID, Status] = field(default_factory=dict)
    awaited: set[int] = field(default_factory=set)
    faults: list[TaskFault] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Reference:
    """One dependency of an item: its place in the list and the task it points to.

    ``item`` is that task's index where it is new and in the same batch; ``on`` None is unknown.
    """

    index: int
    place: int
    need: Dependency
    on: UUID | None
    item: int | None = None


def resolve_edges(
    tasks: Sequence[NewTask],
    admission: Admission,
    ids: Sequence[UUID],
    created: Sequence[bool],
    holders: Mapping[tuple[str, str], KeyHolder],
) -> NewEdges:
    """Find, hold and judge what the new tasks depend on.

    A task on record keeps the edges that it has, whatever this submission of it says.
    """
    edges = NewEdges([0] * len(tasks))
    if not any(task.depends_on for task in tasks):
        return edges
    sound = [n for n in range(len(tasks)) if created[n] and n not in admission.broken]
    references = [
        reference
        for index in sound
        for reference in _references_of(index, tasks, admission, ids, created, holders)
    ]
    recorded = {r.on for r in references if r.on is not None and r.item is None}
    held = needed_tasks.hold_dependencies(sorted(recorded))
    edges.recorded = {task_id: task.status for task_id, task in held.items()}
    for reference in references:
        _judge(reference, tasks, ids, held, edges)
    _check_inputs(ids, edges)
    return edges


def _references_of(
    index: int,
    tasks: Sequence[NewTask],
    admission: Admission,
    ids: Sequence[UUID],
    created: Sequence[bool],
    holders: Mapping[tuple[str, str], KeyHolder],
) -> Iterator[_Reference]:
    for place, need in enumerate(tasks[index].depends_on):
        item = place_in_batch(need, len(tasks), admission.places)
        if isinstance(item, int):
            item = admission.repeats.get(item, item)
            yield _Reference(index, place, need, ids[item], item if created[item] else None)
        elif isinstance(need.on, KeyRef):
            holder = holders.get((need.on.kind, need.on.key))
            yield _Reference(index, place, need, holder.id if holder is not None else None)
        elif isinstance(need.on, UUID):
            yield _Reference(index, place, need, need.on)


def _judge(
    reference: _Reference,
    tasks: Sequence[NewTask],
    ids: Sequence[UUID],
    held: Mapping[UUID, RecordedTask],
    edges: NewEdges,
) -> None:
    """Add the edge of one reference, or the fault of it."""
    index, need, on = reference.index, reference.need, reference.on
    target = None
    if reference.item is not None:
        target = RecordedTask(tasks[reference.item].kind, Status.PENDING)
        edges.awaited.add(reference.item)
    elif on is not None:
        target = held.get(on)
    if on is None or target is None:
        edges.faults.append(_fault(reference, "no such task on record; submit it first"))
        return
    verdict = judge_edge(target.status, OnDead(need.on_dead))
    if verdict.ends:
        edges.faults.append(_fault(reference, NEVER_RUNS.format(status=target.status)))
        return
    if verdict.fate is Fate.WAITS:
        edges.waiting_on[index] += 1
    name = target.kind if need.name is None else need.name
    edges.rows.append(EdgeRow(ids[index], on, name, OnDead(need.on_dead), verdict.state))


def confirm_edges(edges: NewEdges, ids: Sequence[UUID]) -> Sequence[TaskFault]:
    """Lock what the new tasks depend on and judge again what has moved since; part of the commit.

    Called when everything else is written. Returns the faults that this brought to light.
    """
    if not edges.recorded:
        return []
    needed_tasks.check_keys()
    recorded = sorted(edges.recorded)
    # What moved while the rows were written is made up for before anything is locked.
    faults = _catch_up(edges, needed_tasks.statuses_of(recorded), ids)
    return faults or _catch_up(edges, store.lock_dependencies(recorded), ids)


def _catch_up(
    edges: NewEdges,
    now: Mapping[UUID, Status],
    ids: Sequence[UUID],
) -> Sequence[TaskFault]:
    moved = {on: status for on, status in now.items() if status is not edges.recorded[on]}
    if not moved:
        return []
    judged = [
        (row, judge_edge(moved[row.depends_on], row.on_dead))
        for row in edges.rows
        if row.depends_on in moved and row.state in OPEN_EDGES
    ]
    places = {task_id: index for index, task_id in enumerate(ids)}
    faults = [
        TaskFault(
            places[row.task_id],
            "depends_on",
            shown(str(row.depends_on)),
            NEVER_RUNS.format(status=moved[row.depends_on]),
        )
        for row, verdict in judged
        if verdict.ends
    ]
    if not faults:
        dependencies.move_edges([(r.task_id, r.depends_on, v.state) for r, v in judged])
        edges.recorded |= moved
    return faults


def _fault(reference: _Reference, message: str) -> TaskFault:
    field_name = f"depends_on[{reference.place}].on"
    return TaskFault(reference.index, field_name, shown(reference.need.on), message)


def _check_inputs(ids: Sequence[UUID], edges: NewEdges) -> None:
    """Name what two edges of one task have in common and may not."""
    rows_of: dict[UUID, list[EdgeRow]] = {}
    for row in edges.rows:
        rows_of.setdefault(row.task_id, []).append(row)
    for index, task_id in enumerate(ids):
        rows = rows_of.get(task_id, [])
        edges.faults.extend(
            faults_of_inputs(index, [row.depends_on for row in rows], [row.name for row in rows])
        )
