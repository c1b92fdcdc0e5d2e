"""One task of a list, the page that it stands on, and the cursors between pages."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class Sort(StrEnum):
    """The orders of a list; each is the greatest or the newest first unless turned round."""

    AGE = "age"
    PRIORITY = "priority"
    ATTEMPTS = "attempts"
    DURATION = "duration"


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task of a list; ``worker`` holds it now, ``error`` is the last attempt's first line.

    ``duration`` in seconds is that of the last attempt, still rising while it runs. ``place`` is
    what the list is sorted by.
    """

    id: UUID
    kind: str
    status: str
    key: str | None
    attempts: int
    max_attempts: int
    created_at: datetime
    run_at: datetime
    finished_at: datetime | None
    waiting_on: int
    dead_reason: str | None
    error_type: str
    error: str
    worker: str | None
    worker_id: UUID | None
    priority: int
    requeues: int
    lock_key: str | None
    job_id: UUID | None
    duration: float | None
    place: float = 0.0

    @property
    def error_name(self) -> str:
        """The class without its module."""
        return self.error_type.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page ends: the last task's id, and what the list is sorted by."""

    id: UUID
    place: float = 0.0

    @classmethod
    def of(cls, row: TaskRow) -> "Cursor":
        """The cursor that goes on after a row."""
        return cls(row.id, row.place)

    @classmethod
    def read(cls, text: str) -> "Cursor | None":
        """The cursor that an address names, or None for none and for what is none.

        >>> Cursor.read("01920000-0000-7000-8000-000000000000~2.5").place
        2.5
        >>> Cursor.read("nonsense") is None, Cursor.read("") is None
        (True, True)
        """
        task, _, place = text.partition("~")
        try:
            found = cls(UUID(task), float(place or 0))
        except ValueError:
            return None
        return found if math.isfinite(found.place) else None

    def __str__(self) -> str:
        """As an address has it."""
        return f"{self.id}~{self.place!r}" if self.place else str(self.id)


@dataclass(frozen=True, slots=True)
class TaskPage:
    """A page with the cursors of its neighbours.

    ``stopped_at``: only so many tasks (``looked_at``) were looked at, the last of them made then;
    by age ``next`` goes on from there. ``timed_out``: the search took too long and was stopped.
    ``indexed`` is the payload path whose own index found them.
    """

    rows: Sequence[TaskRow]
    next: Cursor | None = None
    previous: Cursor | None = None
    stopped_at: datetime | None = None
    looked_at: int = 0
    timed_out: bool = False
    indexed: str = ""
