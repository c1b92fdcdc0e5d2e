"""The ledger of rejected reports: what arrived under a token that was no longer held."""

from collections.abc import Sequence
from uuid import UUID

from tasks_app.core.states import Outcome
from tasks_app.store import sql

# Overlap: from the end of the lease that was lost to the arrival of its report.
RECORD_LATE = """
INSERT INTO late_result (task_id, worker_id, token_held, token_now, overlap_seconds, outcome,
                         result)
SELECT i.task_id, %(worker)s, i.token, t.token,
       extract(epoch FROM statement_timestamp() - a.ended_at), %(outcome)s, i.result::jsonb
  FROM unnest(%(tasks)s::uuid[], %(tokens)s::bigint[], %(results)s::text[])
           AS i(task_id, token, result)
  LEFT JOIN task t ON t.id = i.task_id
  LEFT JOIN attempt a ON a.token = i.token AND a.worker_id = %(worker)s
 WHERE a.outcome IS DISTINCT FROM %(outcome)s
"""


def record_late(
    worker_id: UUID,
    tasks: Sequence[UUID],
    tokens: Sequence[int],
    results: Sequence[str | None],
    outcome: Outcome,
) -> int:
    """Write rejected reports to the ledger; a repeated report that was accepted before is none."""
    return sql.execute(
        RECORD_LATE,
        {
            "worker": worker_id,
            "tasks": list(tasks),
            "tokens": list(tokens),
            "results": list(results),
            "outcome": outcome,
        },
    )
