"""Dead letters by cause: which error, on which kind, how many, when last."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tasks_app.store import sql

NEWEST: Final = 2_000
"""Dead tasks looked at: the screen asks every second, and the cause of the night is among them."""

CAUSES = """
SELECT coalesce(error ->> 'type', ''), dead_reason, kind, count(*), max(finished_at),
       coalesce((array_agg(split_part(error ->> 'message', E'\\n', 1)
                           ORDER BY finished_at DESC))[1], '')
  FROM (SELECT error, dead_reason, kind, finished_at FROM task
         WHERE status = 'DEAD'
         ORDER BY finished_at DESC, id DESC
         LIMIT %(newest)s) d
 GROUP BY 1, 2, 3
 ORDER BY count(*) DESC, max(finished_at) DESC
 LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class DeadCause:
    """One cause: an error of a kind, given up for one reason.

    ``error_type`` is empty where no attempt failed; ``message`` is the last one's first line.
    """

    error_type: str
    reason: str
    kind: str
    tasks: int
    last_at: datetime
    message: str

    @property
    def name(self) -> str:
        """The class without its module, or the reason where there is no error."""
        return self.error_type.rpartition(".")[2] or self.reason.capitalize()


def list_dead_causes(limit: int) -> list[DeadCause]:
    """The commonest causes among the newest dead tasks, most tasks first."""
    return [DeadCause(*row) for row in sql.rows(CAUSES, {"newest": NEWEST, "limit": limit})]
