"""Submitting: everything is checked before a row is written, and no key makes two tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Unpack
from uuid import UUID

from django.db import transaction

from tasks_app import events
from tasks_app.core.intake.new_tasks import (
    Dependency,
    KeyConflict,
    KeyRef,
    NewTask,
    TaskFault,
    TaskFields,
)
from tasks_app.core.intake.submitted_content import options_text
from tasks_app.models.ids import new_id
from tasks_app.services.intake.admission import Admission, admit
from tasks_app.services.intake.new_edges import NewEdges, confirm_edges, resolve_edges
from tasks_app.services.intake.rehearsal import Rehearsal
from tasks_app.services.intake.repeated_keys import conflicts_of, contents_of
from tasks_app.services.transactions import transactional
from tasks_app.store.intake import submission as store
from tasks_app.store.intake.submission import KeyHolder, TaskRow

__all__ = [
    "Dependency",
    "KeyConflict",
    "KeyRef",
    "NewTask",
    "Rehearsal",
    "SubmissionInvalid",
    "SubmitReport",
    "TaskFault",
    "submit",
    "submit_tasks",
]

TRIES: Final = 5
"""Times that a batch is begun anew because another submission of its keys committed first."""


class SubmissionInvalid(ValueError):
    """Nothing was submitted; ``faults`` names every reason, in the order of the items."""

    def __init__(self, faults: Sequence[TaskFault]) -> None:
        self.faults = sorted(faults, key=lambda fault: fault.index)
        more = f" (and {len(faults) - 1:,} more)" if len(faults) > 1 else ""
        super().__init__(f"{self.faults[0]}{more}")

    @property
    def is_conflict(self) -> bool:
        """Whether keys that are taken by other content are all that is wrong."""
        return all(isinstance(fault, KeyConflict) for fault in self.faults)

    @property
    def has_conflict(self) -> bool:
        """Whether some key is taken by other content, whatever else is wrong."""
        return any(isinstance(fault, KeyConflict) for fault in self.faults)


class _KeyTaken(Exception):
    """A key that was free when it was looked up belongs to another submission now."""


@dataclass(frozen=True, slots=True)
class SubmitReport:
    """The tasks' ids in the order they were given, and which of them are new.

    A task whose key and content were on record already, or came before in the same batch, has the
    id of that task and is not new.
    """

    ids: Sequence[UUID] = ()
    created: Sequence[bool] = ()

    @property
    def created_count(self) -> int:
        """How many tasks are new."""
        return sum(self.created)

    @property
    def existing_count(self) -> int:
        """How many were on record already."""
        return len(self.created) - self.created_count


def submit(kind: str, payload: Any, **fields: Unpack[TaskFields]) -> UUID:
    """Submit one task and return its id. Raises SubmissionInvalid."""
    return submit_tasks([NewTask(kind, payload, **fields)]).ids[0]


def submit_tasks(
    tasks: Sequence[NewTask], *, dry_run: bool = False, rehearsal: Rehearsal | None = None
) -> SubmitReport:
    """Submit tasks in one transaction: all of them, or none. Raises SubmissionInvalid.

    ``dry_run`` does the same and rolls it back; its report says what would be new. So does a
    ``rehearsal``, which remembers the keys of the batches before for those that follow.
    """
    for _ in range(TRIES):
        try:
            admission = admit(tasks)
            report = _submit(tasks, admission, dry_run, rehearsal)
            if rehearsal is not None:
                new = [index for index in range(len(tasks)) if report.created[index]]
                keyed = [index for index in new if tasks[index].key is not None]
                contents = contents_of(tasks, admission, keyed)
                rehearsal.remember([(tasks[i], report.ids[i]) for i in keyed], contents)
            return report
        except _KeyTaken:
            # The winner has committed, so that the next look finds its task.
            continue
    raise RuntimeError(f"other submissions took keys of this batch {TRIES} times in a row")


@transactional
def _submit(
    tasks: Sequence[NewTask], admission: Admission, dry_run: bool, rehearsal: Rehearsal | None
) -> SubmitReport:
    holders = store.existing_keys(admission.pairs)
    rehearsed = {} if rehearsal is None else rehearsal.holders_of(admission.pairs)
    ids, created = _ids_of(tasks, admission, {**rehearsed, **holders})
    edges = resolve_edges(tasks, admission, ids, created, holders)
    conflicts = conflicts_of(tasks, admission, {**rehearsed, **holders})
    faults = [*admission.faults, *conflicts, *edges.faults]
    if faults:
        raise SubmissionInvalid(faults)
    rows = _rows_of(tasks, admission, ids, created, edges)
    parts = store.in_parts(rows, lambda row: len(row.payload))
    if sum(map(store.insert_tasks, parts)) != len(rows):
        raise _KeyTaken
    store.insert_edges(edges.rows)
    late = confirm_edges(edges, ids)
    if late:
        raise SubmissionInvalid(late)
    if rows:
        events.wake_supervisor()
    if dry_run or rehearsal is not None:
        transaction.set_rollback(True)
    return SubmitReport(ids, created)


def _ids_of(
    tasks: Sequence[NewTask],
    admission: Admission,
    holders: Mapping[tuple[str, str], KeyHolder],
) -> tuple[list[UUID], list[bool]]:
    ids: list[UUID] = []
    created: list[bool] = []
    for index, task in enumerate(tasks):
        holder = holders.get((task.kind, task.key)) if task.key is not None else None
        first = admission.repeats.get(index)
        if holder is not None:
            ids.append(holder.id)
        else:
            ids.append(new_id() if first is None else ids[first])
        created.append(holder is None and first is None)
    return ids, created


def _rows_of(
    tasks: Sequence[NewTask],
    admission: Admission,
    ids: Sequence[UUID],
    created: Sequence[bool],
    edges: NewEdges,
) -> list[TaskRow]:
    rows = [
        TaskRow(
            id=ids[index],
            kind=task.kind,
            payload=admission.payloads[index],
            key=task.key,
            priority=task.priority,
            estimate_seconds=task.estimate_seconds,
            max_attempts=task.max_attempts,
            run_at=task.run_at,
            waiting_on=edges.waiting_on[index],
            dependency_count=len(task.depends_on),
            has_dependents=index in edges.awaited,
            lock_key=task.lock_key,
            # A column of nothing is not sent at all.
            weight=None if task.weight == 1 else task.weight,
            deadline_at=task.deadline_at,
            options=None if task.key is None else options_text(task, tasks),
        )
        for index, task in enumerate(tasks)
        if created[index]
    ]
    # Two batches with the same keys in different orders would wait for one another's.
    return sorted(rows, key=lambda row: (row.kind, row.key or "")) if admission.pairs else rows
