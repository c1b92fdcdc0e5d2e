"""Whether this connection could submit anything, asked before a file is read."""

from typing import Final

from tasks_app.store import sql

WRITABLE: Final = """
SELECT has_table_privilege('task', 'INSERT'), current_setting('transaction_read_only') = 'off',
       current_user, current_database()
"""


def why_not_writable() -> str:
    """Why no task could be inserted, or ""."""
    found = sql.row(WRITABLE)
    assert found is not None, "a query without a table has one row"
    allowed, writable, user, database = found
    if not allowed:
        return f"the role {user} may not insert tasks into {database}: grant it, or use another"
    if not writable:
        return f"the database {database} is read-only here: use the one that takes writes"
    return ""
