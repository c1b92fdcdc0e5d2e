"""What handlers logged about a task, by attempt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from tasks_app.store import sql

MOST_ATTEMPTS: Final = 100

LINES = """
SELECT token, lines FROM task_log WHERE task_id = %(task)s ORDER BY token DESC LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class LoggedLine:
    """One line; the instant is by the worker's clock."""

    at: datetime
    level: str
    text: str


def list_lines(task_id: UUID) -> Mapping[int, Sequence[LoggedLine]]:
    """By token, the lines of the latest attempts, the oldest line first."""
    return {
        token: [
            LoggedLine(datetime.fromtimestamp(at, UTC), level, text)
            for at, level, text in sql.loaded(lines)
        ]
        for token, lines in sql.rows(LINES, {"task": task_id, "most": MOST_ATTEMPTS})
    }
