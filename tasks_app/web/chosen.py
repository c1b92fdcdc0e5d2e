"""Which tasks an act is about: ticked boxes, the dead letters of a filter, or a query's finds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.http import HttpRequest, QueryDict

from tasks_app.core.bulks import BulkAction
from tasks_app.services.found_tasks import touchable
from tasks_app.services.task_search import read_query_of
from tasks_app.store.reads.dead_letters import DeadFilter
from tasks_app.store.reads.dead_touch import MOST_AT_ONCE, Selection, select_dead
from tasks_app.store.reads.task_lists import iterate_tasks, newest_id
from tasks_app.web.filters import read_text
from tasks_app.web.task_address import ListAddress

ON_THE_DEAD: Final = frozenset({BulkAction.REQUEUE, BulkAction.DISMISS})


@dataclass(frozen=True, slots=True)
class Chosen:
    """The ids, what a form repeats to mean the same, and the filter in words where it was one.

    ``gone`` were chosen and are no longer as they were shown; ``fault``: the query cannot be read.
    """

    ids: Sequence[UUID]
    fields: Sequence[tuple[str, str]] = ()
    wanted: str = ""
    gone: int = 0
    fault: str = ""

    @property
    def capped(self) -> bool:
        """Whether there may be more than one act may touch."""
        return bool(self.wanted) and len(self.ids) >= MOST_AT_ONCE


def read_filter(query: QueryDict) -> DeadFilter:
    """What an address or a form narrows dead letters to."""
    return DeadFilter(
        kind=read_text(query, "kind"),
        reason=read_text(query, "reason").lower(),
        cause=read_text(query, "cause"),
    )


def read_chosen(request: HttpRequest, action: BulkAction) -> Chosen:
    """Read it from the address or the form; nothing chosen is no task, never all of them.

    ``as_of``, when it was looked at, leaves out what has died since: whoever clicks twice acts
    once, also on a task that has died again meanwhile.
    """
    given = request.POST if request.method == "POST" else request.GET
    if given.get("all") and "q" in given:
        return _found(request, given, action)
    as_of = _instant(given.get("as_of", ""))
    if given.get("all"):
        wanted = read_filter(given)
        parts = {"kind": wanted.kind, "reason": wanted.reason, "cause": wanted.cause}
        fields = [("all", "1"), *((name, value) for name, value in parts.items() if value)]
        words = " ".join(f"{name}:{value}" for name, value in fields[1:])
        return Chosen(
            select_dead(Selection(None, wanted, as_of)), fields, f"status:dead {words}".strip()
        )
    ids = list(dict.fromkeys(filter(None, map(_uuid, given.getlist("id")))))[:MOST_AT_ONCE]
    fields = [("id", str(task_id)) for task_id in ids]
    if as_of is None or action not in ON_THE_DEAD:
        return Chosen(ids, fields)
    as_shown = set(select_dead(Selection(ids, as_of=as_of)))
    kept = [task_id for task_id in ids if task_id in as_shown]
    return Chosen(kept, fields, gone=len(ids) - len(kept))


def _found(request: HttpRequest, given: QueryDict, action: BulkAction) -> Chosen:
    """What a query finds and the act can touch: others would only use up the bound."""
    address = ListAddress.read(given)
    order = address.search_order
    if order.upto is None:
        # What is submitted after the look is not meant.
        order = replace(order, upto=newest_id())
    fields = [("all", "1"), ("q", address.text), ("upto", str(order.upto or ""))]
    read = read_query_of(request.user, address.text)
    if read.faults:
        return Chosen((), fields, address.text, fault=str(read.faults[0]))
    touched = read_query_of(request.user, touchable(read.text, action), order)
    try:
        pages = list(iterate_tasks(touched.wanted, MOST_AT_ONCE))
    except TimeoutError as late:
        return Chosen((), fields, address.text, fault=f"{late}: narrow it by kind or status")
    return Chosen([row.id for page in pages for row in page], fields, address.text or "every task")


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None
