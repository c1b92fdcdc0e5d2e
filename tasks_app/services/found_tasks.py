"""Acts on all tasks that a query finds: a bulk like any other, frozen and held before it begins."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from tasks_app.core.bulks import TOUCHES, BulkAction, BulkOrder
from tasks_app.core.faults import Fault
from tasks_app.services.bulks import OrderInvalid, begin
from tasks_app.services.people import Actor, Role, needs
from tasks_app.services.task_search import read_query
from tasks_app.store.reads.bulks import BulkRow
from tasks_app.store.reads.task_lists import iterate_tasks

MOST_FOUND: Final = 10_000
"""Tasks of one act; where there are more, the same query finds the others afterwards."""


@dataclass(frozen=True, slots=True)
class Found:
    """The tasks that an act can touch; ``more``: there may be others beside these."""

    ids: tuple[UUID, ...]
    more: bool


def touchable(text: str, action: BulkAction) -> str:
    """The query that finds what a query finds and the act can touch.

    >>> touchable("kind:mail", BulkAction.REQUEUE)
    '(kind:mail) (status:dead)'
    """
    statuses = " OR ".join(f"status:{each.lower()}" for each in sorted(TOUCHES[action]))
    return f"({text}) ({statuses})" if text else f"({statuses})"


def find_touched(order: BulkOrder, text: str, *, sees_payloads: bool) -> Found:
    """The tasks that a query finds and the act can touch. Raises OrderInvalid.

    Everything has to be asked for in words: an empty query finds nothing.
    """
    read = read_query(text, sees_payloads=sees_payloads)
    if not read.text:
        raise OrderInvalid([Fault("query", "empty; say which tasks, such as status:pending")])
    if read.faults:
        raise OrderInvalid([Fault("query", str(fault)) for fault in read.faults])
    touched = read_query(touchable(read.text, order.action), sees_payloads=sees_payloads)
    try:
        pages = list(iterate_tasks(touched.wanted, MOST_FOUND))
    except TimeoutError as error:
        raise OrderInvalid([Fault("query", f"{error}; narrow it down")]) from error
    ids = tuple(row.id for page in pages for row in page)
    return Found(ids, more=len(ids) >= MOST_FOUND)


@needs(Role.OPERATOR)
def begin_found(
    order: BulkOrder, text: str, actor: Actor, *, sees_payloads: bool
) -> tuple[BulkRow | None, bool]:
    """Begin a bulk on what a query finds; None where that is nothing. Raises OrderInvalid.

    Also tells whether there may be more than it took.
    """
    found = find_touched(order, text, sees_payloads=sees_payloads)
    return begin(order, found.ids, actor, wanted=text), found.more
