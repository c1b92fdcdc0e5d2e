"""Effects of a task: begun, finished or taken back by the holder of its lease, settled by a human.

Lock order is task, then effect. Whoever holds the task's row knows that its lease cannot end
meanwhile, and each statement that follows sees what was committed before it.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tasks_app.core.attempts.effects import EffectFacts, EffectState
from tasks_app.store import sql

HOLD = """
SELECT 1 FROM task
 WHERE id = %(task)s AND token = %(token)s AND status = 'RUNNING' AND assigned_to = %(worker)s
   FOR NO KEY UPDATE
"""


def hold(worker_id: UUID, task_id: UUID, token: int) -> bool:
    """Lock a task that the worker runs under this token; False when that lease is lost."""
    return sql.row(HOLD, {"worker": worker_id, "task": task_id, "token": token}) is not None


# A RUNNING task's effects are its worker's alone.
HOLD_AT_REST = "SELECT 1 FROM task WHERE id = %(task)s AND status <> 'RUNNING' FOR NO KEY UPDATE"


def hold_at_rest(task_id: UUID) -> bool:
    """Lock a task that nobody runs now; False where there is none such."""
    return sql.row(HOLD_AT_REST, {"task": task_id}) is not None


@dataclass(frozen=True, slots=True)
class EffectRow:
    """An effect on record; ``result`` is None until it is done."""

    facts: EffectFacts
    result: Any


FIND = "SELECT state, token, result FROM effect WHERE task_id = %(task)s AND name = %(name)s"


def find(task_id: UUID, name: str) -> EffectRow | None:
    """The effect of that name, if anybody ever began it."""
    found = sql.row(FIND, {"task": task_id, "name": name})
    if found is None:
        return None
    state, token, result = found
    return EffectRow(EffectFacts(EffectState(state), int(token)), sql.loaded(result))


BEGIN = """
INSERT INTO effect (task_id, name, token) VALUES (%(task)s, %(name)s, %(token)s)
    ON CONFLICT (task_id, name) DO UPDATE
   SET token = excluded.token, started_at = statement_timestamp(), repeats = effect.repeats + 1
 WHERE effect.state = 'started' AND effect.token <> excluded.token
"""


def begin(task_id: UUID, name: str, token: int) -> None:
    """Note that the holder of the token is about to do it; over an earlier start it is a repeat."""
    sql.execute(BEGIN, {"task": task_id, "name": name, "token": token})


FINISH = """
UPDATE effect
   SET state = 'done', result = %(result)s::jsonb, finished_at = statement_timestamp()
 WHERE task_id = %(task)s AND name = %(name)s AND token = %(token)s AND state = 'started'
"""


def finish(task_id: UUID, name: str, token: int, result: str) -> None:
    """Note that it is done; ``result`` is JSON text. One that is done already stays as it is."""
    sql.execute(FINISH, {"task": task_id, "name": name, "token": token, "result": result})


# An earlier start that was repeated still stands in doubt, whatever became of the repetition.
TAKE_BACK = """
DELETE FROM effect
 WHERE task_id = %(task)s AND name = %(name)s AND token = %(token)s AND state = 'started'
   AND repeats = 0
"""


def take_back(task_id: UUID, name: str, token: int) -> None:
    """Forget a start after which certainly nothing was done."""
    sql.execute(TAKE_BACK, {"task": task_id, "name": name, "token": token})


SETTLE_HAPPENED = """
UPDATE effect
   SET state = 'done', result = %(result)s::jsonb, finished_at = statement_timestamp()
 WHERE task_id = %(task)s AND name = %(name)s AND state = 'started'
"""


def settle_happened(task_id: UUID, name: str, result: str) -> bool:
    """Note on a human's word that it was done; False when it is not in doubt."""
    params = {"task": task_id, "name": name, "result": result}
    return sql.execute(SETTLE_HAPPENED, params) > 0


SETTLE_UNDONE = """
DELETE FROM effect WHERE task_id = %(task)s AND name = %(name)s AND state = 'started'
"""


def settle_undone(task_id: UUID, name: str) -> bool:
    """Forget a start on a human's word that nothing was done; False when it is not in doubt."""
    return sql.execute(SETTLE_UNDONE, {"task": task_id, "name": name}) > 0
