"""Submitting: everything is checked before a row is written, and no key makes two tasks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Unpack
from uuid import UUID

from django.db import transaction

from tasks_app import events
from tasks_app.core.new_tasks import Dependency, KeyRef, NewTask, TaskFault, TaskFields
from tasks_app.models.tasks import new_id
from tasks_app.services.admission import Admission, admit
from tasks_app.services.new_edges import NewEdges, resolve_edges
from tasks_app.services.transactions import transactional
from tasks_app.store import submission as store
from tasks_app.store.submission import TaskRow

__all__ = [
    "Dependency",
    "KeyRef",
    "NewTask",
    "SubmissionInvalid",
    "SubmitReport",
    "TaskFault",
    "submit",
    "submit_tasks",
]

TRIES: Final = 5
"""Times that a batch is begun anew because another submission of its keys committed first."""


PART_CHARACTERS: Final = 32 * 1024 * 1024
"""Payloads that one statement carries; a character takes up to four bytes."""


class SubmissionInvalid(ValueError):
    """Nothing was submitted; ``faults`` names every reason, in the order of the items."""

    def __init__(self, faults: Sequence[TaskFault]) -> None:
        self.faults = sorted(faults, key=lambda fault: fault.index)
        more = f" (and {len(faults) - 1:,} more)" if len(faults) > 1 else ""
        super().__init__(f"{self.faults[0]}{more}")


class _KeyTaken(Exception):
    """A key that was free when it was looked up belongs to another submission now."""


@dataclass(frozen=True, slots=True)
class SubmitReport:
    """The tasks' ids in the order they were given, and which of them are new.

    A task whose key was on record already has the id of that record and is not new.
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


def submit_tasks(tasks: Sequence[NewTask], *, dry_run: bool = False) -> SubmitReport:
    """Submit tasks in one transaction: all of them, or none. Raises SubmissionInvalid.

    ``dry_run`` does the same and rolls it back; its report says what would be new.
    """
    for _ in range(TRIES):
        try:
            return _submit(tasks, admit(tasks), dry_run)
        except _KeyTaken:
            # The winner has committed, so that the next look finds its task.
            continue
    raise RuntimeError(f"other submissions took keys of this batch {TRIES} times in a row")


@transactional
def _submit(tasks: Sequence[NewTask], admission: Admission, dry_run: bool) -> SubmitReport:
    existing = store.existing_keys(admission.pairs)
    ids, created = _ids_of(tasks, existing)
    edges = resolve_edges(tasks, admission, ids, created, existing)
    faults = [*admission.faults, *edges.faults]
    if faults:
        raise SubmissionInvalid(faults)
    rows = _rows_of(tasks, admission, ids, created, edges)
    if sum(store.insert_tasks(part) for part in _parts_of(rows)) != len(rows):
        raise _KeyTaken
    store.insert_edges(edges.rows)
    if rows:
        events.wake_supervisor()
    if dry_run:
        transaction.set_rollback(True)
    return SubmitReport(ids, created)


def _ids_of(
    tasks: Sequence[NewTask], existing: Mapping[tuple[str, str], UUID]
) -> tuple[list[UUID], list[bool]]:
    ids = []
    created = []
    for task in tasks:
        found = existing.get((task.kind, task.key)) if task.key is not None else None
        ids.append(found or new_id())
        created.append(found is None)
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
        )
        for index, task in enumerate(tasks)
        if created[index]
    ]
    # Two batches with the same keys in different orders would wait for one another's.
    return sorted(rows, key=lambda row: (row.kind, row.key or "")) if admission.pairs else rows


def _parts_of(rows: Sequence[TaskRow]) -> Iterator[list[TaskRow]]:
    """The rows in statements' worths."""
    part: list[TaskRow] = []
    characters = 0
    for row in rows:
        if part and characters + len(row.payload) > PART_CHARACTERS:
            yield part
            part, characters = [], 0
        part.append(row)
        characters += len(row.payload)
    yield part
