"""A dead task's payload, changed by a person before it is requeued."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from tasks_app.store import sql

LOCK_DEAD = """
SELECT kind, payload FROM task
 WHERE id = %(task)s AND status = 'DEAD' AND requeues = %(requeues)s
   FOR NO KEY UPDATE
"""


def lock_dead(task_id: UUID, requeues: int) -> tuple[str, Any] | None:
    """Lock a DEAD task of this incarnation: its kind and payload, or None where it is none."""
    found = sql.row(LOCK_DEAD, {"task": task_id, "requeues": requeues})
    return None if found is None else (found[0], sql.loaded(found[1]))


SET_PAYLOAD = """
UPDATE task
   SET payload = %(payload)s::jsonb,
       origins = CASE WHEN %(origins)s::jsonb IS NULL THEN origins
                      ELSE coalesce(origins, '[]') || %(origins)s::jsonb END
 WHERE id = %(task)s AND status = 'DEAD'
RETURNING id
"""


def set_payload(task_id: UUID, payload: str, origins: str | None = None) -> bool:
    """Replace a DEAD task's payload (JSON text); ``origins`` are those of what was typed."""
    params = {"task": task_id, "payload": payload, "origins": origins}
    return sql.row(SET_PAYLOAD, params) is not None


@dataclass(frozen=True, slots=True)
class Said:
    """What was said about a task: its error, that of an attempt, or an attempt's lines."""

    place: str
    key: str
    said: Any


WORDS: Final = """
SELECT 'task', id::text, error::text FROM task WHERE id = %(task)s AND error IS NOT NULL
UNION ALL
SELECT 'attempt', token::text, error::text FROM attempt
 WHERE task_id = %(task)s AND error IS NOT NULL
UNION ALL
SELECT 'log', token::text, lines::text FROM task_log WHERE task_id = %(task)s
"""

WRITE: Final = {
    "task": "UPDATE task SET error = %(said)s::jsonb WHERE id = %(key)s::uuid",
    "attempt": "UPDATE attempt SET error = %(said)s::jsonb WHERE token = %(key)s::bigint",
    "log": "UPDATE task_log SET lines = %(said)s::jsonb WHERE token = %(key)s::bigint",
}


def read_words(task_id: UUID) -> Sequence[Said]:
    """All that was said about a task so far."""
    found = sql.rows(WORDS, {"task": task_id})
    return [Said(place, key, sql.loaded(said)) for place, key, said in found]


def write_words(words: Sequence[Said]) -> None:
    """Write it anew: a few rows of one task, which a person has just edited."""
    for each in words:
        sql.execute(WRITE[each.place], {"key": each.key, "said": json.dumps(each.said)})
