"""All tasks that a query finds, as one statement: counted up to a bound, or frozen by a bulk.

A list is read in windows, page after page; an act is about the whole set, so that the server picks
it in one statement and no id passes through a process.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import OperationalError, transaction
from psycopg.errors import QueryCanceled

from tasks_app.core.words import say
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.counts import count_by_status
from tasks_app.store.reads.search.task_conditions import Conditions
from tasks_app.store.reads.search.task_lists import SEARCHED, TaskSearch, bounds_of
from tasks_app.store.reads.search.task_windows import Stock, choose_window

LOOK_SECONDS: Final = 5
"""A look at what is found is stopped after this."""

SELECT: Final = """
SELECT t.id, t.requeues, t.fingerprint, t.status, t.priority, t.deadline_at, 0 AS nth
{source} AND {conditions}
"""
IDS: Final = "SELECT f.id FROM ({found} LIMIT %(most)s) f ORDER BY f.id"


@dataclass(frozen=True, slots=True)
class FoundSet:
    """A statement that finds tasks: ids, incarnations, fingerprints, statuses, what is changed."""

    statement: str
    params: Mapping[str, Any]


def found_set(wanted: TaskSearch, died_by: datetime | None = None) -> FoundSet:
    """What a search finds in all, whatever its order; ``died_by`` leaves out what ended later."""
    params: dict[str, Any] = {"found": []}
    conditions = Conditions(params, wanted.hidden)
    parts = bounds_of(wanted, conditions)
    if wanted.node is not None:
        parts.append(conditions.of(wanted.node))
    if died_by is not None:
        parts.append(f"t.finished_at <= {conditions.value(died_by)}")
    window = choose_window(wanted.node, Stock(count_by_status, wanted.paths, SEARCHED), conditions)
    return FoundSet(
        SELECT.format(source=window.source, conditions=" AND ".join(parts) or "true"), params
    )


def first_found(found: FoundSet, most: int) -> Sequence[UUID]:
    """Ids of the set, at most so many. Raises TimeoutError."""
    try:
        with transaction.atomic():
            sql.execute(f"SET LOCAL statement_timeout = '{LOOK_SECONDS}s'; SET LOCAL jit = off")
            rows = sql.rows(IDS.format(found=found.statement), {**found.params, "most": most})
            sql.execute("SET LOCAL statement_timeout = DEFAULT; SET LOCAL jit = DEFAULT")
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TimeoutError(
                say("the search was stopped after %(s)s s", s=LOOK_SECONDS)
            ) from error
        raise
    return [row[0] for row in rows]
