"""Where a search for tasks begins to look: the narrowest part of the record that an index gives."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from tasks_app.core.failures.fingerprints import UNMARKED
from tasks_app.core.search.queries import Match, Node, Not, Op, conjuncts
from tasks_app.core.search.query_fields import cause_of, id_range, instant_of, seconds_of, whole_id
from tasks_app.core.states import ACTIVE, Status
from tasks_app.store.reads.search.task_conditions import (
    INDEXED_CHARACTERS,
    Conditions,
    indexed_expression,
)

CLOCKS_APART: Final = timedelta(hours=1)
"""By how much an id's time, which its maker's clock gave, is trusted to be right."""

ALL: Final = "FROM task t WHERE true"

# Few tasks stand in these statuses at a time, and a partial index or the leases know which.
BY_STATUS: Final[Mapping[str, str]] = {
    Status.DEAD: "FROM task t WHERE t.status = 'DEAD'",
    Status.FAILED: "FROM task t WHERE t.status = 'FAILED'",
    **dict.fromkeys(ACTIVE, "FROM lease e JOIN task t ON t.id = e.task_id WHERE true"),
}
BY_KEY: Final = "FROM task t WHERE t.kind IN (SELECT name FROM kind) AND t.key = {key}"
BY_JOB: Final = "FROM task t WHERE t.job_id = {job}"
BY_CAUSE: Final = "FROM task t WHERE t.fingerprint = {cause}"
BY_PATH: Final = "FROM task t WHERE t.kind = {kind} AND {expression} = left({value}, {most})"


@dataclass(frozen=True, slots=True)
class Window:
    """Where to look (``source``), and whether all of it can be looked at at once (``narrow``).

    ``indexed`` is the payload path whose index was used.
    """

    source: str = ALL
    narrow: bool = False
    indexed: str = ""


@dataclass(frozen=True, slots=True)
class Stock:
    """What is known before a search: tasks by status, and searchable paths by kind.

    Only statuses with at most ``most`` tasks are looked at whole.
    """

    by_status: Callable[[], Mapping[str, int]]
    paths: Mapping[str, Sequence[str]]
    most: int


def choose_window(node: Node | None, stock: Stock, conditions: Conditions) -> Window:
    """The narrowest part that holds every task that may match."""
    needed = _needed(node)
    for match in needed:
        if match.field == "key" and not match.value.endswith("*"):
            key = conditions.value(match.value)
            return Window(BY_KEY.format(key=key), narrow=True)
        if match.field == "job" and (job := whole_id(match.value)):
            return Window(BY_JOB.format(job=conditions.value(job)))
    for match in needed:
        if match.field == "cause" and cause_of(match.value) != UNMARKED:
            return Window(BY_CAUSE.format(cause=conditions.value(cause_of(match.value))))
    kinds = {match.value for match in needed if match.field == "kind"}
    for match in needed:
        indexed = match.field == "payload" and match.op is Op.IS and match.path
        kind = next((kind for kind in kinds if match.name in stock.paths.get(kind, ())), None)
        if indexed and kind is not None:
            source = BY_PATH.format(
                kind=conditions.value(kind),
                expression=indexed_expression(match.path).replace("payload", "t.payload", 1),
                value=conditions.value(match.value),
                most=INDEXED_CHARACTERS,
            )
            return Window(source, indexed=match.name)
    for match in needed:
        status = match.value.upper() if match.field == "status" else ""
        if status in BY_STATUS and stock.by_status().get(status, 0) <= stock.most:
            return Window(BY_STATUS[status], narrow=True)
    return Window()


def _needed(node: Node | None) -> list[Match]:
    """The comparisons that every task found must satisfy."""
    return [part for part in conjuncts(node) if isinstance(part, Match)]


def id_bounds(node: Node | None, now: datetime) -> tuple[UUID | None, UUID | None]:
    """The least and the greatest id that may match: ids follow the time of submission."""
    low: list[UUID] = []
    high: list[UUID] = []
    for match in _needed(node):
        if match.field == "id" and (bounds := id_range(match.value)):
            low.append(bounds[0])
            high.append(bounds[1])
        since, until = _times(match, now)
        if since is not None:
            low.append(_first_id(since - CLOCKS_APART))
        if until is not None:
            high.append(_first_id(until + CLOCKS_APART))
    return max(low, default=None), min(high, default=None)


def _times(match: Match, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Since and until when a task that matches was submitted."""
    more = match.op in (Op.MORE, Op.AT_LEAST)
    if match.field == "age":
        then = max(now - timedelta(seconds=seconds_of(match.value) or 0), _EPOCH)
        return (None, then) if more else (then, None)
    if match.field == "created":
        instant = instant_of(match.value)
        return (instant, None) if more else (None, instant)
    return None, None


_EPOCH: Final = datetime(1970, 1, 2, tzinfo=UTC)


def _first_id(at: datetime) -> UUID:
    """The least UUIDv7 that could be made at this instant."""
    return UUID(int=int(at.timestamp() * 1000) << 80)


def advice(node: Node | None, paths: Mapping[str, Sequence[str]]) -> Iterable[tuple[str, str]]:
    """Payload paths of a query that have an index, each with a kind whose index is not used.

    A query uses it once it names that kind.
    """
    named = {match.value for match in _needed(node) if match.field == "kind"}
    if named or isinstance(node, Not):
        return
    for match in _needed(node):
        if match.field == "payload" and match.path and match.op is Op.IS:
            for kind in sorted(kind for kind, declared in paths.items() if match.name in declared):
                yield match.name, kind
