"""What an address asks a list for: filters and cursors, read leniently, written canonically."""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import QueryDict

from tasks_app.core.sanitise import clean_text
from tasks_app.core.states import Status
from tasks_app.store.reads.task_lists import TaskFilter

LONGEST: Final = 200
"""Characters of one filter: as long as the longest key."""


def read_text(query: QueryDict, name: str) -> str:
    """A filter's text, fit for the database, whatever was put into the address."""
    return clean_text(query.get(name, "")).strip()[:LONGEST]


def read_id(query: QueryDict, name: str) -> UUID | None:
    """An id, or None for none and for what is none."""
    try:
        return UUID(query.get(name, ""))
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class TaskQuery:
    """The filters of a list of tasks; ``unknown`` says which could not be used."""

    wanted: TaskFilter
    before: UUID | None = None
    after: UUID | None = None
    unknown: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, query: QueryDict) -> "TaskQuery":
        """Read the address; a status may be written in any case."""
        status = read_text(query, "status").upper()
        unknown = []
        if status and status not in Status.__members__:
            unknown.append(f"There is no status {status}: tasks of every status are shown.")
            status = ""
        wanted = TaskFilter(
            status=status,
            kind=read_text(query, "kind"),
            worker=read_text(query, "worker"),
            text=read_text(query, "q"),
        )
        return cls(wanted, read_id(query, "before"), read_id(query, "after"), unknown)

    def address(self, **changed: object) -> str:
        """The query string with some parts changed, without cursors unless one is given."""
        parts = {
            "status": self.wanted.status.lower(),
            "kind": self.wanted.kind,
            "worker": self.wanted.worker,
            "q": self.wanted.text,
            **changed,
        }
        return "?" + urlencode({name: value for name, value in parts.items() if value})

    @property
    def narrows(self) -> bool:
        """Whether anything is filtered."""
        return self.wanted != TaskFilter()

    @property
    def searches(self) -> bool:
        """Whether a page costs more than the look at a status or a kind: it is read less often."""
        return bool(self.wanted.text or self.wanted.worker)
