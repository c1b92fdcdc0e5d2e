"""Acts on all tasks that a query finds: a bulk like any other, frozen and held before it begins."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from tasks_app.core.actions.bulks import TOUCHES, BulkAction, BulkOrder
from tasks_app.core.faults import Fault
from tasks_app.core.search.queries import Match, all_of, any_of, write
from tasks_app.core.words import say
from tasks_app.services.actions.bulks import OrderInvalid, begin_on
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.search.task_search import ReadQuery, read_query
from tasks_app.store.reads.actions.bulks import BulkRow
from tasks_app.store.reads.search.found_sets import first_found, found_set
from tasks_app.store.reads.search.task_lists import TaskSearch

LOOKED_AT: Final = 10_000
"""Tasks that a dry run looks at: where there are more, it says so and tells of these."""


@dataclass(frozen=True, slots=True)
class Found:
    """Tasks that an act can touch; ``more``: there are others beside these."""

    ids: Sequence[UUID]
    more: bool


def touched(wanted: TaskSearch, action: BulkAction) -> TaskSearch:
    """The search that finds what a search finds and the act can touch."""
    statuses = [Match("status", each.lower()) for each in sorted(TOUCHES[action])]
    parts = (wanted.node, any_of(statuses))
    return replace(wanted, node=all_of(part for part in parts if part is not None))


def look(action: BulkAction, wanted: TaskSearch, died_by: datetime | None = None) -> Found:
    """See what an act would touch, as far as a dry run looks. Raises TimeoutError."""
    ids = first_found(found_set(touched(wanted, action), died_by), LOOKED_AT + 1)
    return Found(ids[:LOOKED_AT], more=len(ids) > LOOKED_AT)


@needs(Role.OPERATOR)
def begin_found(
    order: BulkOrder, read: ReadQuery, actor: Actor, died_by: datetime | None = None
) -> BulkRow | None:
    """Begin a bulk on all that a query finds; None where that is nothing. Raises OrderInvalid.

    ``died_by`` leaves out what has ended since: whoever looked at it did not mean it.
    """
    _check(read)
    wanted = touched(read.wanted, order.action)
    text = read.text or write(wanted.node)
    return begin_on(order, found_set(wanted, died_by), actor, text)


def _check(read: ReadQuery) -> None:
    if read.faults:
        raise OrderInvalid([Fault("query", str(fault)) for fault in read.faults])


def read_words(text: str, *, sees_payloads: bool) -> ReadQuery:
    """Read the query of an order by program: everything has to be asked for in words.

    Raises OrderInvalid.
    """
    read = read_query(text, sees_payloads=sees_payloads)
    if not read.text:
        raise OrderInvalid([Fault("query", say("empty; say which tasks, such as status:pending"))])
    _check(read)
    return read
