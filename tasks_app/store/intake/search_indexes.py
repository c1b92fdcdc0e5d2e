"""The indexes of payload paths that kinds declare searchable: made and dropped without a lock.

They are no part of the migrations, for they follow configuration.
"""

from typing import Final

from psycopg import sql as names

from tasks_app.core.intake.search_paths import PREFIX, index_name, keys_of
from tasks_app.store import sql
from tasks_app.store.reads.search.task_conditions import indexed_expression

TURN: Final = 7_265_112
"""The advisory lock of whoever makes these indexes: one at a time."""

TAKE_TURN = "SELECT pg_try_advisory_lock(%(turn)s)"
END_TURN = "SELECT pg_advisory_unlock(%(turn)s)"

# One that a crash left half made is not valid: it is made again.
PRESENT = """
SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
 WHERE i.indrelid = 'task'::regclass AND c.relname LIKE %(names)s
"""

CREATE = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON task (({expression}), id) WHERE kind = {kind}
"""

DROP = "DROP INDEX CONCURRENTLY IF EXISTS {name}"


def take_turn() -> bool:
    """Become the only one who makes indexes; False if another does."""
    found = sql.row(TAKE_TURN, {"turn": TURN})
    return bool(found and found[0])


def end_turn() -> None:
    """Let others make indexes."""
    sql.row(END_TURN, {"turn": TURN})


def present_indexes() -> dict[str, bool]:
    """The names of these indexes that there are, and whether each is whole."""
    pattern = PREFIX.replace("_", "\\_") + "%"
    return dict(sql.rows(PRESENT, {"names": pattern}))


def create_index(kind: str, path: str) -> None:
    """Make the index of one path; submissions go on meanwhile. Not within a transaction."""
    statement = names.SQL(CREATE).format(
        name=names.Identifier(index_name(kind, path)),
        expression=names.SQL(indexed_expression(keys_of(path))),
        kind=names.SQL(names.Literal(kind).as_string().replace("%", "%%")),
    )
    sql.execute(statement.as_string())


def drop_index(name: str) -> None:
    """Drop one of these indexes. Not within a transaction."""
    sql.execute(names.SQL(DROP).format(name=names.Identifier(name)).as_string())
