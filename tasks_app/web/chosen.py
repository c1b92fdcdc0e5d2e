"""Which tasks an act is about: ticked boxes, the dead letters of a filter, or a query's finds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _

from tasks_app.core.actions.bulks import BulkAction
from tasks_app.core.literals import NotReadable, instant
from tasks_app.core.words import side_by_side
from tasks_app.services.actions.bulks import NARROW
from tasks_app.services.search.found_tasks import Found, look
from tasks_app.services.search.task_search import ReadQuery, read_query_of
from tasks_app.store.reads.failures.dead_letters import DeadFilter, select_as_shown
from tasks_app.store.reads.search.task_lists import newest_id
from tasks_app.translation import translated
from tasks_app.web.filters import read_text
from tasks_app.web.task_address import ListAddress

ON_THE_DEAD: Final = frozenset({BulkAction.REQUEUE, BulkAction.DISMISS})

MOST_TICKED: Final = 10_000
"""Ids of one form."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The ids that were ticked or, where ``query`` is one, all that it finds.

    ``fields`` is what a form repeats to mean the same. ``gone`` were ticked and are no longer as
    they were shown; what ended after ``died_by`` is left out.
    """

    ids: Sequence[UUID] = ()
    fields: Sequence[tuple[str, str]] = ()
    gone: int = 0
    query: ReadQuery | None = None
    died_by: datetime | None = None

    @property
    def wanted(self) -> str:
        """The query, empty for ticked boxes."""
        return "" if self.query is None else self.query.text or _("every task")

    def look(self, action: BulkAction) -> tuple[Found, str]:
        """The tasks that an act would touch, as far as a dry run looks, and what is wrong."""
        if self.query is None:
            return Found(self.ids, more=False), ""
        if self.query.faults:
            fault = self.query.faults[0]
            return Found((), more=False), _("The query cannot be read: %(fault)s") % {
                "fault": translated(str(fault))
            }
        try:
            return look(action, self.query.wanted, self.died_by), ""
        except TimeoutError as late:
            return Found((), more=False), translated(side_by_side(str(late), NARROW, between="; "))


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
        return _found(request, given)
    as_of = _instant(given.get("as_of", ""))
    if given.get("all"):
        wanted = read_filter(given)
        parts = {"kind": wanted.kind, "reason": wanted.reason, "cause": wanted.cause}
        fields = [("all", "1"), *((name, value) for name, value in parts.items() if value)]
        query = read_query_of(request.user, wanted.query())
        return Chosen(fields=fields, query=query, died_by=as_of)
    ids = list(dict.fromkeys(filter(None, map(_uuid, given.getlist("id")))))[:MOST_TICKED]
    fields = [("id", str(task_id)) for task_id in ids]
    if as_of is None or action not in ON_THE_DEAD:
        return Chosen(ids, fields)
    as_shown = select_as_shown(ids, as_of)
    kept = [task_id for task_id in ids if task_id in as_shown]
    return Chosen(kept, fields, gone=len(ids) - len(kept))


def _found(request: HttpRequest, given: QueryDict) -> Chosen:
    address = ListAddress.read(given)
    order = address.search_order
    if order.upto is None:
        # What is submitted after the look is not meant.
        order = replace(order, upto=newest_id())
    fields = [("all", "1"), ("q", address.text), ("upto", str(order.upto or ""))]
    return Chosen(fields=fields, query=read_query_of(request.user, address.text, order))


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _instant(text: str) -> datetime | None:
    try:
        return instant(text)
    except NotReadable:
        return None
