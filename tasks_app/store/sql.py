"""How the store talks to PostgreSQL: one statement, named parameters, tuples back.

Django's client-side binding is kept on purpose: every statement is planned for the values and the
table sizes of its own moment. A plan cached while the lease table was empty made the same
statements thirty times slower (design, section 7).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
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


# What moves a batch looks each row up by its key. The planner would rather scan a table that looks
# small, or that nothing has analysed yet, and compare each of its rows with each of the batch: that
# was 90 of 120 us a task in a drain of 20,000 tasks. JIT compiles longer than the statement runs.
# One message for all three statements: no round trip more, and nothing else of the transaction is
# planned so.
BY_KEY = """
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
       set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true);
"""
AS_USUAL = """;
SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL enable_hashjoin TO DEFAULT;
SET LOCAL enable_mergejoin TO DEFAULT; SET LOCAL jit TO DEFAULT
"""


def rows_by_key(statement: str, params: Params) -> list[tuple[Any, ...]]:
    """Run one statement, planned for look-ups by index whatever the statistics say."""
    with connection.cursor() as cursor:
        cursor.execute(BY_KEY + statement + AS_USUAL, params)
        cursor.nextset()
        return list(cursor.fetchall())


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


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def jsonb(value: Any) -> Jsonb | None:
    """Wrap a value for a jsonb parameter; None stays SQL NULL."""
    return None if value is None else Jsonb(value)


def loaded(value: Any) -> Any:
    """A jsonb value as Python has it: Django registers no loader, raw cursors hand out text."""
    return json.loads(value) if isinstance(value, str) else value
