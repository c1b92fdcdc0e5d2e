"""Steps that wait for people, and those that people have: what the inbox shows and acts ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.core.states import FINAL, Status
from tasks_app.core.words import say
from tasks_app.store import sql

PAGE: Final = 50
MOST_COUNTED: Final = 100
"""The badge says "100+" from here on."""

# One range scan of the ready queue a kind, as in a round.
WAITING = """
SELECT t.id, t.kind, t.key, t.created_at, t.queue_at, t.deadline_at, j.id, coalesce(j.name, ''),
       coalesce(j.plan -> 'steps' -> s.place::int ->> 'name', '')
  FROM (SELECT r.*
          FROM kind k
         CROSS JOIN LATERAL (
            SELECT id, kind, key, created_at, queue_at, deadline_at, job_id FROM task
             WHERE kind = k.name AND status = 'PENDING' AND waiting_on = 0
               AND run_at <= statement_timestamp()
               AND (deadline_at IS NULL OR deadline_at > statement_timestamp())
               AND (queue_at, id) > (%(queue_at)s::timestamptz, %(id)s::uuid)
             ORDER BY queue_at, id
             LIMIT %(limit)s
         ) r
         WHERE k.by_people
         ORDER BY r.queue_at, r.id
         LIMIT %(limit)s) t
  LEFT JOIN step_task s ON s.task_id = t.id
  LEFT JOIN job j ON j.id = t.job_id
 ORDER BY t.queue_at, t.id
"""


@dataclass(frozen=True, slots=True)
class InboxCursor:
    """The place of a step in the queue, by which the next page begins."""

    queue_at: datetime
    id: UUID

    def __str__(self) -> str:
        return f"{self.queue_at.isoformat()}_{self.id}"

    @classmethod
    def read(cls, text: str) -> "InboxCursor | None":
        """Read what an address says; None where it says none."""
        at, _, step = text.partition("_")
        try:
            found = cls(datetime.fromisoformat(at), UUID(step))
        except ValueError:
            return None
        return found if found.queue_at.tzinfo else None


@dataclass(frozen=True, slots=True)
class WaitingStep:
    """A step that anybody may take; ``step`` is its name in its job's plan, if it has one."""

    id: UUID
    kind: str
    key: str | None
    created_at: datetime
    queue_at: datetime
    deadline_at: datetime | None
    job_id: UUID | None
    job: str
    step: str

    @property
    def name(self) -> str:
        """What people call it."""
        return self.step or self.key or str(self.id)


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """The first in the queue, or those after a cursor; ``more`` is where the next page begins."""

    rows: Sequence[WaitingStep]
    more: InboxCursor | None


def list_waiting(after: InboxCursor | None = None) -> WaitingPage:
    """Steps to take, first in the queue first, at most ``PAGE``."""
    params = {
        "queue_at": after.queue_at if after else "-infinity",
        "id": after.id if after else UUID(int=0),
        "limit": PAGE + 1,
    }
    found = [WaitingStep(*row) for row in sql.rows_in_index_order(WAITING, params)]
    rows = found[:PAGE]
    last = InboxCursor(rows[-1].queue_at, rows[-1].id) if len(found) > PAGE else None
    return WaitingPage(rows, last)


COUNT = """
SELECT count(*)
  FROM (SELECT FROM kind k
         CROSS JOIN LATERAL (
            SELECT FROM task
             WHERE kind = k.name AND status = 'PENDING' AND waiting_on = 0
               AND run_at <= statement_timestamp()
               AND (deadline_at IS NULL OR deadline_at > statement_timestamp())
             ORDER BY queue_at, id
             LIMIT %(limit)s
         ) t
         WHERE k.by_people
         LIMIT %(limit)s) waiting
"""


def count_waiting() -> int:
    """How many steps wait for somebody to take them; counted up to ``MOST_COUNTED``."""
    ((waiting,),) = sql.rows_in_index_order(COUNT, {"limit": MOST_COUNTED})
    return int(waiting)


def waiting_label() -> str:
    """The count as a badge says it; "" for none.

    It is "100+" where more wait.
    """
    waiting = count_waiting()
    return f"{waiting}+" if waiting == MOST_COUNTED else str(waiting or "")


HELD = """
SELECT t.id, t.kind, t.key, l.token, w.name, w.user_id, l.started_at, l.held_until,
       l.held_until < statement_timestamp(), j.id, coalesce(j.name, ''),
       coalesce(j.plan -> 'steps' -> s.place::int ->> 'name', '')
  FROM lease l
  JOIN task t ON t.id = l.task_id
  JOIN worker w ON w.id = l.worker_id
  LEFT JOIN step_task s ON s.task_id = t.id
  LEFT JOIN job j ON j.id = t.job_id
 WHERE l.held_until IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class HeldStep:
    """A step that a person has; ``over``: its time has run out, and the sweep takes it back."""

    id: UUID
    kind: str
    key: str | None
    token: int
    person: str
    user_id: int | None
    started_at: datetime
    held_until: datetime
    over: bool
    job_id: UUID | None
    job: str
    step: str

    @property
    def name(self) -> str:
        """What people call it."""
        return self.step or self.key or str(self.id)


OF_PERSON = (
    HELD
    + """
   AND (w.user_id = %(user)s) IS {mine}
 ORDER BY l.held_until, t.id
 LIMIT %(limit)s
"""
)


def list_held(user_id: int, *, mine: bool) -> list[HeldStep]:
    """What a user has, or what everybody else has, the first to run out first; at most ``PAGE``."""
    statement = OF_PERSON.format(mine="TRUE" if mine else "NOT TRUE")
    return [HeldStep(*row) for row in sql.rows(statement, {"user": user_id, "limit": PAGE})]


ONE_HELD = HELD + " AND l.task_id = %(task)s"


def find_held(task_id: UUID) -> HeldStep | None:
    """Who has a step, or None."""
    found = sql.row(ONE_HELD, {"task": task_id})
    return None if found is None else HeldStep(*found)


PERSON = "SELECT id FROM worker WHERE user_id = %(user)s"


def find_person(user_id: int) -> UUID | None:
    """A user's row among the workers; None before their first step."""
    found = sql.row(PERSON, {"user": user_id})
    return None if found is None else found[0]


PERSON_NAME = """
SELECT u.username FROM worker w JOIN auth_user u ON u.id = w.user_id WHERE w.id = %(worker)s
"""


def find_person_name(worker_id: UUID) -> str:
    """The user whose row among the workers it is; "" for a machine's."""
    found = sql.row(PERSON_NAME, {"worker": worker_id})
    return str(found[0]) if found else ""


STEP = """
SELECT t.id, k.name, k.by_people, k.description, k.result_schema, t.key, j.id,
       coalesce(j.name, ''), coalesce(j.plan -> 'steps' -> s.place::int ->> 'name', '')
  FROM task t
  JOIN kind k ON k.name = t.kind
  LEFT JOIN step_task s ON s.task_id = t.id
  LEFT JOIN job j ON j.id = t.job_id
 WHERE t.id = %(task)s
"""


@dataclass(frozen=True, slots=True)
class HumanStep:
    """What a step is about; ``result_schema`` is the JSON Schema of its result, None for any."""

    id: UUID
    kind: str
    by_people: bool
    description: str
    result_schema: Any
    key: str | None
    job_id: UUID | None
    job: str
    step: str

    @property
    def name(self) -> str:
        """What people call it."""
        return self.step or self.key or str(self.id)


def find_step(task_id: UUID) -> HumanStep | None:
    """What a task of any kind is about, or None."""
    found = sql.row(STEP, {"task": task_id})
    if found is None:
        return None
    return HumanStep(*(*found[:4], sql.loaded(found[4]), *found[5:]))


CLAIMABLE = """
SELECT t.status, k.name, k.by_people, k.paused, k.quarantined_at IS NOT NULL,
       t.waiting_on + coalesce((j.paused AND j.held_to IS NOT NULL)::int, 0),
       t.run_at > statement_timestamp(), t.deadline_at <= statement_timestamp(), h.name,
       (SELECT l.task_id FROM lease l WHERE l.lock_key = t.lock_key AND l.task_id <> t.id),
       t.origins @? '$[*][0] ? (@[0] == "lock_key")' IS TRUE
  FROM task t
  JOIN kind k ON k.name = t.kind
  LEFT JOIN job j ON j.id = t.job_id
  LEFT JOIN lease e ON e.task_id = t.id
  LEFT JOIN worker h ON h.id = e.worker_id
 WHERE t.id = %(task)s
"""


def why_not_claimed(task_id: UUID) -> str:
    """Explain why a step cannot be taken now; "" where it can."""
    found = sql.row(CLAIMABLE, {"task": task_id})
    if found is None:
        return say("There is no such task.")
    status, kind, by_people, paused, quarantined, waiting_on, later, late, holder, *lock = found
    reasons = (
        (
            status in FINAL or status == Status.DEAD,
            say("It is %(status)s and waits for nobody.", status=status),
        ),
        (bool(holder), say("%(holder)s has it.", holder=holder)),
        (not by_people, say("Its kind %(kind)s is done by workers.", kind=kind)),
        (paused, say("Its kind %(kind)s is paused.", kind=kind)),
        (quarantined, say("Its kind %(kind)s is in quarantine.", kind=kind)),
        (waiting_on > 0, say("It still waits for other tasks, or its job is paused.")),
        (later or status != Status.PENDING, say("Its time has not come yet.")),
        (bool(late), say("The deadline of this task has passed: the supervisor ends the task.")),
        # Whose lock was filled in from a result: the holder's own key may be there to be read.
        (bool(lock[0] and lock[1]), say("Another task holds its lock.")),
        (bool(lock[0]), say("Task %(lock_holder)s holds its lock.", lock_holder=lock[0])),
    )
    return next((words for holds, words in reasons if holds), "")
