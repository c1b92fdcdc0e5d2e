"""What a page shows of a query: chips, the tabs of statuses, faults, the table's headings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tasks_app.core.search.queries import AnyOf, Match, Node, all_of, any_of, conjuncts, write
from tasks_app.core.search.query_checks import QueryFault
from tasks_app.core.states import Status
from tasks_app.services.search.task_search import ReadQuery
from tasks_app.store.reads.dispatch.counts import KindCount
from tasks_app.store.reads.search.task_rows import Sort
from tasks_app.web.task_address import COLUMNS, FIGURES, ListAddress

RARE: Final = (Status.DISMISSED, Status.CANCELLED, Status.SKIPPED)
"""Statuses that get a tab only where there is such a task."""


@dataclass(frozen=True, slots=True)
class Chip:
    """One part of the query, and the address of the list without it; ``either`` it or another."""

    label: str
    without: str
    either: bool = False


def chips_of(read: ReadQuery, address: ListAddress) -> list[Chip]:
    """What must hold at once, or the alternatives, each removable alone; none of a faulty query."""
    if read.faults:
        return []
    either = isinstance(read.node, AnyOf)
    parts = list(read.node.parts if isinstance(read.node, AnyOf) else conjuncts(read.node))
    joined = any_of if either else all_of
    return [
        Chip(write(part), address.link(q=write(joined(parts[:at] + parts[at + 1 :]))), either)
        for at, part in enumerate(parts)
    ]


@dataclass(frozen=True, slots=True)
class Tab:
    """One status above the list; ``count`` is None where the rollup cannot know it."""

    status: str
    address: str
    here: bool
    count: int | None


def tabs_of(read: ReadQuery, address: ListAddress, counts: Sequence[KindCount]) -> list[Tab]:
    """A tab for each status with the rollup's figure, which knows kinds and nothing else."""
    if read.faults:
        return []
    parts = conjuncts(read.node)
    asked = {value.upper() for part in parts if (value := _value(part, "status"))}
    rest = [part for part in parts if not _value(part, "status")]
    kinds = {value for part in rest if (value := _value(part, "kind"))}
    known = len(kinds) <= 1 and all(_value(part, "kind") for part in rest)
    by_status: dict[str, int] = {}
    for entry in counts:
        if not kinds or entry.kind in kinds:
            by_status[entry.status] = by_status.get(entry.status, 0) + entry.count
    total = sum(by_status.values())
    tabs = [Tab("", address.link(q=write(all_of(rest))), not asked, total)]
    for status in Status:
        here, count = status in asked, by_status.get(status, 0)
        if here or count or status not in RARE:
            query = write(all_of([Match("status", status.lower()), *rest]))
            tabs.append(Tab(status, address.link(q=query), here, count))
    return tabs if known else [replace(tab, count=None) for tab in tabs]


def _value(part: Node, field: str) -> str:
    return part.value if isinstance(part, Match) and part.field == field else ""


@dataclass(frozen=True, slots=True)
class FaultMark:
    """A fault with the text before, at and after it, and whole queries to use instead."""

    before: str
    wrong: str
    after: str
    message: str
    remedies: Sequence[str]


def marked(text: str, fault: QueryFault) -> FaultMark:
    """The query with the place of a fault marked."""
    start, end = fault.at.start, max(fault.at.end, fault.at.start + 1)
    remedies = [remedy for remedy in fault.remedies if remedy]
    return FaultMark(text[:start], text[start:end], text[end:], fault.message, remedies)


@dataclass(frozen=True, slots=True)
class Heading:
    """One column: ``link`` sorts by it or turns that round; ``sorted`` is how it is sorted now."""

    key: str
    label: str
    figure: bool
    link: str = ""
    sorted: str = ""


SORTED_BY: Final = {each.value: each for each in Sort}


def headings_of(address: ListAddress) -> list[Heading]:
    """The columns that the list shows, in their order."""
    return [_heading(key, address) for key in address.shown]


def _heading(key: str, address: ListAddress) -> Heading:
    sort = SORTED_BY.get(key)
    figure = key in FIGURES
    if sort is None:
        return Heading(key, str(COLUMNS[key]), figure)
    here = address.sort is sort
    turned = f"{'' if address.backwards else '-'}{key}" if here else key
    # The newest first is the smallest age first.
    falling = address.backwards if sort is Sort.AGE else not address.backwards
    way = "descending" if falling else "ascending"
    link = address.link(sort="" if turned == Sort.AGE else turned)
    return Heading(key, str(COLUMNS[key]), figure, link, way if here else "")
