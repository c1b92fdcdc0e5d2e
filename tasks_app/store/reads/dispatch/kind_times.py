"""How long the tasks of each kind wait and run, from the newest attempts."""

from dataclasses import dataclass
from typing import Final

from tasks_app.store import sql

LOOKED_AT: Final = 5_000
"""The newest attempts of all kinds: enough for a 95th percentile, and some 30 ms."""

# A task is ready when its time has come and what it needs has ended; in a job its payload is put
# together after that, and a pause is no wait for a worker. Its last attempt is the one of which
# that is known: a retry moves the time, and the attempts before it have waited elsewhere.
TIMES: Final = """
WITH newest AS (
    SELECT a.kind, a.token, a.task_id, a.started_at,
           extract(epoch FROM a.ended_at - a.started_at)::float8 AS ran
      FROM (SELECT * FROM attempt ORDER BY token DESC LIMIT %(looked_at)s) a
     WHERE a.started_at IS NOT NULL
       AND a.ended_at > statement_timestamp() - interval '1 hour'
), waits AS (
    SELECT n.kind, n.ran,
           CASE WHEN t.token = n.token THEN
               greatest(0, extract(epoch FROM n.started_at - greatest(t.run_at,
                   CASE WHEN t.dependency_count > 0 AND t.job_id IS NULL THEN d.ended_at
                        ELSE t.ready_at END)))
           END::float8 AS waited
      FROM newest n
      LEFT JOIN task t ON t.id = n.task_id
      LEFT JOIN LATERAL (
        SELECT max(p.finished_at) AS ended_at
          FROM dependency e JOIN task p ON p.id = e.depends_on_id
         WHERE t.dependency_count > 0 AND e.task_id = t.id) d ON true
)
SELECT kind, count(*)::int,
       percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY waited),
       percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY ran)
  FROM waits
 GROUP BY kind
 ORDER BY kind
 LIMIT 200
"""


@dataclass(frozen=True, slots=True)
class KindTimes:
    """A kind's attempts of an hour, and in seconds how long they waited once ready, and ran.

    Medians and 95th percentiles; those of waits are None where no task is left to tell them.
    """

    kind: str
    attempts: int
    wait: float | None
    wait_95: float | None
    run: float
    run_95: float


def kind_times() -> list[KindTimes]:
    """Of every kind that ran within an hour, by name, at most 200; a bounded look."""
    return [
        KindTimes(kind, attempts, *(waits or (None, None)), *runs)
        for kind, attempts, waits, runs in sql.rows(TIMES, {"looked_at": LOOKED_AT})
    ]
