"""What keeps PostgreSQL from cleaning up behind the hot tables."""

from tasks_app.core.alerts.detection import SnapshotHeld
from tasks_app.store import sql

# A dead row can go only once no snapshot is older than its death: one that is held makes every hot
# table and its indexes grow, and each round slower. A vacuum's own snapshot holds nobody up, nor
# does one in another database, whose tables are others; a writer there does, by the snapshots here.
OLDEST = """
SELECT pid, coalesce(nullif(application_name, ''), client_addr::text, 'a local program'),
       coalesce(state, ''), extract(epoch FROM statement_timestamp() - xact_start)::float8
  FROM pg_stat_activity
 WHERE (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL AND datname = current_database())
   AND xact_start IS NOT NULL
   AND backend_type = 'client backend' AND query NOT ILIKE 'vacuum%%'
   AND pid <> pg_backend_pid()
 ORDER BY xact_start
 LIMIT 1
"""


def oldest_snapshot() -> SnapshotHeld | None:
    """The transaction that has held back cleaning for longest; None where there is none.

    A database user who may not look into others' sessions sees his own only.
    """
    found = sql.row(OLDEST)
    return None if found is None else SnapshotHeld(*found)
