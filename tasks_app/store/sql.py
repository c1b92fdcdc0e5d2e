"""How the store talks to PostgreSQL: one statement, named parameters, tuples back.

Django's client-side binding is kept on purpose: every statement is planned for the values and the
table sizes of its own moment. A plan cached while the lease table was empty made the same
statements thirty times slower (design, section 7).
"""

from collections.abc import Mapping
from typing import Any

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


def jsonb(value: Any) -> Jsonb | None:
    """Wrap a value for a jsonb parameter; None stays SQL NULL."""
    return None if value is None else Jsonb(value)
