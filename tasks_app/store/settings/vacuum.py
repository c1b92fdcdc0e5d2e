"""The tables that churn: their rows live for an instant, and the dead ones stay in the file."""

from tasks_app.store import sql

# The autovacuum daemon looks once a minute. A drain leaves 15,000 dead leases a second, and each
# round reads the whole of the table: a quarter of its time after 20,000 tasks. Who does not own
# the tables gets a warning, and nothing happens; who is in the way is passed over.
VACUUM = "VACUUM (SKIP_LOCKED, PARALLEL 0) lease, status_delta, settled"


def vacuum_what_churns() -> None:
    """Give the room of dead rows back; not inside a transaction."""
    sql.execute(VACUUM)
