"""An empty record for a dump of data alone: what migrations put into it would clash."""

from typing import Final

from django.db import connection
from psycopg import sql as names

from tasks_app.store import sql

AUDIT: Final = frozenset({"audit_entry", "audit_head"})
"""Never emptied; triggers take in what a dump has of them."""

LIVED_IN: Final = ("audit_entry", "auth_user", "job", "task", "worker")
"""Tables with a row on every record that was used."""

HAS_ROWS = "SELECT EXISTS (SELECT FROM {table})"
EMPTY = "TRUNCATE {tables}"


def used_tables() -> list[str]:
    """Which of the tables that only use fills have rows."""
    found = []
    for table in LIVED_IN:
        statement = names.SQL(HAS_ROWS).format(table=names.Identifier(table))
        row = sql.row(statement.as_string())
        if row and row[0]:
            found.append(table)
    return found


def empty_tables() -> int:
    """Empty each table of the application, and Django's list of migrations; how many there are."""
    tables = {*connection.introspection.django_table_names(only_existing=True), "django_migrations"}
    wanted = sorted(tables - AUDIT)
    listed = names.SQL(", ").join(map(names.Identifier, wanted))
    sql.execute(names.SQL(EMPTY).format(tables=listed).as_string())
    return len(wanted)
