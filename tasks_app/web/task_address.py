"""The address of a list of tasks: its query, order, columns and place; read leniently."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tasks_app.core.sanitise import clean_text
from tasks_app.core.search.query_parsing import LONGEST
from tasks_app.services.search.task_search import SearchOrder
from tasks_app.store.reads.search.task_rows import Cursor, Sort
from tasks_app.web.filters import read_id

COLUMNS: Final[Mapping[str, Promise]] = {
    "status": _("Status"),
    "task": _("Task"),
    "kind": _("Kind"),
    "worker": _("Worker"),
    "priority": _("Priority"),
    "attempts": _("Attempts"),
    "duration": _("Ran for"),
    "age": _("Age"),
    "created": _("Submitted"),
    "runs": _("Not before"),
    "ended": _("Ended"),
    "requeues": _("Requeues"),
    "lock": _("Lock"),
    "job": _("Job"),
    "error": _("Last error"),
}
"""What a list may show, in the order of the screen."""

USUAL: Final = ("status", "task", "kind", "worker", "attempts", "age", "error")
FIGURES: Final = frozenset({"priority", "attempts", "duration", "age", "requeues"})


@dataclass(frozen=True, slots=True)
class ListAddress:
    """What the address of a list says; ``columns`` are keys of ``COLUMNS``."""

    text: str = ""
    sort: Sort = Sort.AGE
    backwards: bool = False
    columns: Sequence[str] = USUAL
    after: Cursor | None = None
    before: Cursor | None = None
    upto: UUID | None = None

    @classmethod
    def read(cls, query: QueryDict) -> "ListAddress":
        """Read the address; what it says wrongly is as if it were not said."""
        order = query.get("sort", "")
        name = order.removeprefix("-")
        asked = set(query.getlist("cols")) | set(query.get("cols", "").split(","))
        columns = [column for column in COLUMNS if column in asked]
        return cls(
            text=clean_text(query.get("q", "")).strip()[: LONGEST + 1],
            sort=Sort(name) if name in set(Sort) else Sort.AGE,
            backwards=order.startswith("-"),
            columns=columns or USUAL,
            after=Cursor.read(query.get("after", "")),
            before=Cursor.read(query.get("before", "")),
            upto=read_id(query, "upto"),
        )

    @property
    def order(self) -> str:
        """The order as an address has it; empty for the usual one."""
        written = f"{'-' if self.backwards else ''}{self.sort}"
        return "" if written == Sort.AGE else written

    @property
    def search_order(self) -> SearchOrder:
        """The order as the search takes it."""
        return SearchOrder(self.sort, self.backwards, self.upto)

    @property
    def is_usual(self) -> bool:
        """Whether nothing is asked for: every task, newest first."""
        return not self.text and not self.order

    @property
    def chosen(self) -> str:
        """The columns as an address has them; empty for the usual ones."""
        return "" if tuple(self.columns) == USUAL else ",".join(self.columns)

    @property
    def shown(self) -> Sequence[str]:
        """The columns of the screen: those chosen, and what the list is sorted by."""
        if self.sort is Sort.AGE:
            return self.columns
        return [column for column in COLUMNS if column in self.columns or column == self.sort]

    def view(self) -> str:
        """Order and columns as an address has them."""
        parts = {"sort": self.order, "cols": self.chosen}
        return urlencode({name: value for name, value in parts.items() if value})

    def link(self, **changed: object) -> str:
        """The query string with some parts changed, at the first page unless a place is given."""
        parts = {"q": self.text, "sort": self.order, "cols": self.chosen, **changed}
        return "?" + urlencode({name: str(value) for name, value in parts.items() if value})
