"""The latest lines that handlers logged, by attempt; handlers that log nothing cost nothing."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from tasks_app.core.attempts.reports import log_lines
from tasks_app.store import sql

MOST_LINES: Final = 50
"""Of one attempt, whatever a worker sends."""

# The attempt is in flight, or its end was written in this transaction or before.
KEEP = """
INSERT INTO task_log (token, task_id, lines)
SELECT n.token, coalesce(l.task_id, a.task_id), n.lines
  FROM unnest(%(tokens)s::bigint[], %(lines)s::jsonb[]) AS n (token, lines)
  LEFT JOIN lease l ON l.token = n.token AND l.worker_id = %(worker)s
  LEFT JOIN attempt a ON a.token = n.token AND a.worker_id = %(worker)s
 WHERE l.token IS NOT NULL OR a.token IS NOT NULL
 ORDER BY n.token
ON CONFLICT (token) DO UPDATE SET lines = excluded.lines WHERE task_log.lines <> excluded.lines
"""


def keep(worker_id: UUID, lines: Mapping[int, Sequence[Sequence[Any]]]) -> None:
    """Write the lines of these tokens, as far as this worker holds or held them."""
    if not lines:
        return
    texts = [json.dumps(log_lines(said, MOST_LINES)) for said in lines.values()]
    sql.execute(KEEP, {"worker": worker_id, "tokens": list(lines), "lines": texts})
