"""How the store talks to PostgreSQL: one statement, named parameters, tuples back.

Django's client-side binding is kept on purpose: every statement is planned for the values and the
table sizes of its own moment. A plan cached while the lease table was empty made the same
statements thirty times slower (design, section 7).
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection
from psycopg.types.json import Jsonb

Params = Mapping[str, Any]


def rows(statement: str, params: Params | None = None) -> list[tuple[Any, ...]]:
    """Run one statement and return all its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, params or {})
        return list(cursor.fetchall())


def row(statement: str, params: Params | None = None) -> tuple[Any, ...] | None:
    """Run one statement and return its first row, or None."""
    with connection.cursor() as cursor:
        cursor.execute(statement, params or {})
        found: tuple[Any, ...] | None = cursor.fetchone()
        return found


def execute(statement: str, params: Params | None = None) -> int:
    """Run one statement and return how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(statement, params or {})
        return int(cursor.rowcount)


def several(statements: Sequence[str], params: Params | None = None) -> list[list[tuple[Any, ...]]]:
    """Run some statements in one message and return the rows of each: one round trip, not many."""
    found = []
    with connection.cursor() as cursor:
        cursor.execute("; ".join(statements), params or {})
        for _ in statements:
            found.append(list(cursor.fetchall()))
            cursor.nextset()
    return found


# Without statistics, and on tables that look small, the planner walks a whole table or a whole
# partial index for each row of a batch: 90 of 120 us a task in a drain of 20,000, and a round of
# half a second. What moves a batch may look rows up by key only; what reads a queue may also not
# sort it. JIT compiles longer than such a statement runs.
# That alone does not say which side of a join drives it. Where few tasks are expected to pass the
# conditions, the planner reads the primary key of the whole table and looks through the batch for
# each of them: 250 us a task with 3,000 in the queue, and more with more. So the first look into
# the task table is a LATERAL one, which cannot be turned round, in the order of the ids, which are
# locked as they are found. A condition that is always true and that the planner takes for rare
# (x + 0 = x) keeps it from turning the joins after that: it then expects next to nothing to come.
# Not where it takes the table for as small: one that was empty when it was analysed, and has pages,
# counts as one row however long it grows, and all of it is read for each row of the batch (2 ms a
# task with 4,000 in the table). It does so along an index, in whose order two things could be
# merged. So joins say ``t.id = ANY (ARRAY[l.id])``: the index finds that as well, and nothing can
# be merged by it, which leaves no way but the key. For the same reason what they lock is put into
# the order of the batch's ids, not of the table's.
LONGEST_WAIT: Final = "500ms"
"""How long one statement of the leader waits for a row that somebody else holds."""

CLEARED_AT_ONCE: Final = 10_000
"""Rows that one statement of a clean-up deletes at most; the next clean-up deletes more."""

BY_KEY: Final = (
    "enable_seqscan",
    "enable_bitmapscan",
    "enable_hashjoin",
    "enable_mergejoin",
    "jit",
)
IN_INDEX_ORDER: Final = (*BY_KEY, "enable_sort")


def rows_without(
    ways: Sequence[str], statement: str, params: Params, *, before: str = ""
) -> list[tuple[Any, ...]]:
    """Run one statement that is planned without these ways, whatever the statistics say.

    One message carries the settings too, and a statement that goes ``before``: no round trip more,
    and nothing else of the transaction is planned so. Two calls of a function for each way cost a
    third of what as many SET LOCAL do.
    """
    off = ", ".join(
        f"set_config('chargehand.{way}', current_setting('{way}'), true),"
        f" set_config('{way}', 'off', true)"
        for way in ways
    )
    as_it_was = ", ".join(
        f"set_config('{way}', current_setting('chargehand.{way}'), true)" for way in ways
    )
    with connection.cursor() as cursor:
        cursor.execute(f"{before}SELECT {off}; {statement}; SELECT {as_it_was}", params)
        for _ in range(2 if before else 1):
            cursor.nextset()
        return list(cursor.fetchall())


def rows_by_key(statement: str, params: Params, *, before: str = "") -> list[tuple[Any, ...]]:
    """Run one statement that looks every row up by its key, after another one if there is one."""
    return rows_without(BY_KEY, statement, params, before=f"{before};" if before else "")


def rows_in_index_order(statement: str, params: Params) -> list[tuple[Any, ...]]:
    """Run one statement that reads the beginning of an index."""
    return rows_without(IN_INDEX_ORDER, statement, params)


# psycopg's own adapter of lists looks into each element for what needs a quote: 5 of 18 us a task
# when many are submitted. All of these write {} where every element is NULL: unnest fills it up.


def array(values: Sequence[float | None]) -> str:
    """The literal of an array of numbers or booleans: ``{1,NULL,2.5}``."""
    if values.count(None) == len(values):
        return "{}"
    return f"{{{','.join(['NULL' if v is None else repr(v) for v in values])}}}"


def uuids(values: Sequence[UUID | None]) -> str:
    """The literal of an array of UUIDs."""
    if values.count(None) == len(values):
        return "{}"
    return f"{{{','.join(['NULL' if v is None else v.hex for v in values])}}}"


def texts(values: Sequence[str | None]) -> str:
    r"""The literal of an array of texts: ``{"a \"quote\"",NULL}``."""
    if values.count(None) == len(values):
        return "{}"
    return f"{{{','.join(['NULL' if v is None else _quoted(v) for v in values])}}}"


def instants(values: Sequence[datetime | None]) -> str:
    """The literal of an array of instants."""
    return texts([None if v is None else v.isoformat() for v in values])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def jsonb(value: Any) -> Jsonb | None:
    """Wrap a value for a jsonb parameter; None stays SQL NULL."""
    return None if value is None else Jsonb(value)


def loaded(value: Any) -> Any:
    """A jsonb value as Python has it: Django registers no loader, raw cursors hand out text."""
    return json.loads(value) if isinstance(value, str) else value
