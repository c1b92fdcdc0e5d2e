"""New tasks and their edges, in bulk."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from tasks_app.core.states import EdgeState, OnDead, Status
from tasks_app.store import sql


class TaskRow(NamedTuple):
    """One task to insert; None leaves a value to its kind. ``payload`` is a JSON text.

    ``origins`` is one too, as ``core.origins.as_json`` writes it.

    ``holds`` are what it waits for beside its dependencies, and part of ``waiting_on``. A tuple is
    made in a third of the time of a frozen dataclass: 2 of 26 us a task submitted. ``options`` is
    what was submitted beside the payload, of a task with a key.
    """

    id: UUID
    kind: str
    payload: str
    key: str | None = None
    priority: int = 0
    estimate_seconds: float | None = None
    max_attempts: int | None = None
    run_at: datetime | None = None
    waiting_on: int = 0
    dependency_count: int = 0
    has_dependents: bool = False
    job_id: UUID | None = None
    holds: int = 0
    unprepared: bool = False
    lock_key: str | None = None
    weight: float | None = None
    deadline_at: datetime | None = None
    options: str | None = None
    origins: str | None = None


PART_CHARACTERS: Final = 32 * 1024 * 1024
"""Payloads that one statement carries; a character takes up to four bytes."""

T = TypeVar("T")


def in_parts(items: Sequence[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """The items in statements' worths by the characters of their payloads."""
    part: list[T] = []
    characters = 0
    for item in items:
        if part and characters + size(item) > PART_CHARACTERS:
            yield part
            part, characters = [], 0
        part.append(item)
        characters += size(item)
    if part:
        yield part


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """One dependency to insert."""

    task_id: UUID
    depends_on: UUID
    name: str
    on_dead: OnDead
    state: EdgeState


# The payloads come as one JSON array: 65,000 rows a second against 40,000 with an array of texts,
# whose every quote is escaped twice. The conflict target is the partial unique index on
# (kind, key): a second submission of the same key waits for the first to commit and then inserts
# nothing.
INSERT_TASKS = """
WITH input AS (
    SELECT * FROM ROWS FROM (
                      unnest(%(ids)s::uuid[], %(kinds)s::text[], %(keys)s::text[],
                             %(priorities)s::int[], %(estimates)s::float8[],
                             %(max_attempts)s::int[], %(run_ats)s::timestamptz[],
                             %(waits)s::int[], %(counts)s::int[], %(dependents)s::boolean[],
                             %(jobs)s::uuid[], %(holds)s::int[], %(unprepared)s::boolean[],
                             %(locks)s::text[], %(weights)s::float8[],
                             %(deadlines)s::timestamptz[], %(options)s::text[],
                             %(origins)s::text[]),
                      jsonb_array_elements(%(payloads)s::jsonb))
               AS i(id, kind, key, priority, estimate, max_attempts, run_at, waiting_on,
                    dependency_count, has_dependents, job_id, holds, unprepared, lock_key, weight,
                    deadline_at, options, origins, payload)
), inserted AS (
    INSERT INTO task (id, kind, payload, key, priority, estimate_seconds, max_attempts, run_at,
                      queue_at, ready_at, created_at, waiting_on, dependency_count, has_dependents,
                      job_id, holds, unprepared, lock_key, weight, deadline_at, submitted,
                      origins)
    SELECT i.id, i.kind, i.payload, i.key, i.priority,
           coalesce(i.estimate, k.estimate_seconds), coalesce(i.max_attempts, k.max_attempts),
           coalesce(i.run_at, statement_timestamp()),
           greatest(i.run_at, statement_timestamp())
               - i.priority * s.priority_head_start_seconds * interval '1 second',
           CASE WHEN i.waiting_on < 1 AND i.run_at IS NOT NULL
                THEN greatest(i.run_at, statement_timestamp()) END,
           statement_timestamp(), i.waiting_on, i.dependency_count, i.has_dependents,
           i.job_id, i.holds, i.unprepared, i.lock_key, coalesce(i.weight, 1), i.deadline_at,
           CASE WHEN i.key IS NOT NULL THEN
               hashtextextended(coalesce(i.options, ''), jsonb_hash_extended(i.payload, 0)) END,
           i.origins::jsonb
      FROM input i
      JOIN kind k ON k.name = i.kind
     CROSS JOIN supervisor_settings s
    ON CONFLICT (kind, key) WHERE key IS NOT NULL DO NOTHING
    RETURNING id, kind
), counted AS (
    INSERT INTO status_delta (kind, status, change)
    SELECT kind, 'PENDING', count(*) FROM inserted GROUP BY kind
)
SELECT count(*) FROM inserted
"""


def insert_tasks(tasks: Sequence[TaskRow]) -> int:
    """Insert tasks as PENDING; return how many (not those whose key exists already).

    PostgreSQL holds at most 256 MiB in one JSON array: all the payloads together.
    """
    if not tasks:
        return 0
    found = sql.row(
        INSERT_TASKS,
        {
            "ids": sql.uuids([t.id for t in tasks]),
            "kinds": sql.texts([t.kind for t in tasks]),
            "payloads": f"[{','.join(t.payload for t in tasks)}]",
            "keys": sql.texts([t.key for t in tasks]),
            "priorities": sql.array([t.priority for t in tasks]),
            "estimates": sql.array([t.estimate_seconds for t in tasks]),
            "max_attempts": sql.array([t.max_attempts for t in tasks]),
            "run_ats": sql.instants([t.run_at for t in tasks]),
            "waits": sql.array([t.waiting_on for t in tasks]),
            "counts": sql.array([t.dependency_count for t in tasks]),
            "dependents": sql.array([t.has_dependents for t in tasks]),
            "jobs": sql.uuids([t.job_id for t in tasks]),
            "holds": sql.array([t.holds for t in tasks]),
            "unprepared": sql.array([t.unprepared for t in tasks]),
            "locks": sql.texts([t.lock_key for t in tasks]),
            "weights": sql.array([t.weight for t in tasks]),
            "deadlines": sql.instants([t.deadline_at for t in tasks]),
            "options": sql.texts([t.options for t in tasks]),
            "origins": sql.texts([t.origins for t in tasks]),
        },
    )
    return int(found[0]) if found else 0


# Taken last: a task that ends afterwards sees has_dependents and announces itself; one that ended
# before shows its status here. Until the commit it can neither be begun nor end, so nothing that
# takes long may follow.
LOCK_DEPENDENCIES = """
WITH locked AS (
    SELECT id, status FROM task
     WHERE id = ANY (%(ids)s::uuid[]) ORDER BY id FOR NO KEY UPDATE
), marked AS (
    UPDATE task t SET has_dependents = true
      FROM locked l WHERE t.id = ANY (ARRAY[l.id]) AND NOT t.has_dependents
)
SELECT id, status FROM locked
"""


def lock_dependencies(ids: Sequence[UUID]) -> dict[UUID, Status]:
    """Lock existing tasks that new ones depend on, whose rows are written; their statuses."""
    if not ids:
        return {}
    return {r[0]: Status(r[1]) for r in sql.rows_by_key(LOCK_DEPENDENCIES, {"ids": list(ids)})}


INSERT_EDGES = """
INSERT INTO dependency (task_id, depends_on_id, name, on_dead, state)
SELECT * FROM unnest(%(tasks)s::uuid[], %(depends_on)s::uuid[], %(names)s::text[],
                     %(on_deads)s::text[], %(states)s::text[])
"""


def insert_edges(edges: Sequence[EdgeRow]) -> None:
    """Insert the dependencies of tasks inserted in the same transaction."""
    if edges:
        sql.execute(
            INSERT_EDGES,
            {
                "tasks": [e.task_id for e in edges],
                "depends_on": [e.depends_on for e in edges],
                "names": [e.name for e in edges],
                "on_deads": [e.on_dead for e in edges],
                "states": [e.state for e in edges],
            },
        )


@dataclass(frozen=True, slots=True)
class Content:
    """What a task was submitted with, and its payload alone, each as a number of 64 bits."""

    whole: int
    payload: int


# The same expression as in INSERT_TASKS. Neither the order of a payload's keys nor the spelling of
# its numbers changes it, and PostgreSQL makes it of what it has parsed anyway.
READ_CONTENTS = """
SELECT hashtextextended(coalesce(i.options, ''), jsonb_hash_extended(i.payload, 0)),
       jsonb_hash_extended(i.payload, 0)
  FROM ROWS FROM (unnest(%(options)s::text[]), jsonb_array_elements(%(payloads)s::jsonb))
       WITH ORDINALITY AS i(options, payload, place)
 ORDER BY i.place
"""


def read_contents(given: Sequence[tuple[str, str | None]]) -> list[Content]:
    """The contents of payloads, JSON texts, each with the options that came with it."""
    contents: list[Content] = []
    for part in in_parts(given, lambda each: len(each[0])):
        params = {
            "options": sql.texts([options for _, options in part]),
            "payloads": f"[{','.join(payload for payload, _ in part)}]",
        }
        contents += [Content(int(r[0]), int(r[1])) for r in sql.rows(READ_CONTENTS, params)]
    return contents


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """A task that holds a key; ``payload`` is told where it is not known what it came with."""

    id: UUID
    submitted: int | None
    payload: int | None = None

    def has(self, content: Content) -> bool:
        """Whether it was submitted with this content.

        Of a task that is older than this comparison the payload alone is known, as it is now.
        """
        if self.submitted is None:
            return self.payload == content.payload
        return self.submitted == content.whole


EXISTING_KEYS = """
SELECT t.kind, t.key, t.id, t.submitted,
       CASE WHEN t.submitted IS NULL THEN jsonb_hash_extended(t.payload, 0) END
  FROM unnest(%(kinds)s::text[], %(keys)s::text[]) AS i(kind, key)
  JOIN task t ON t.kind = i.kind AND t.key = i.key
"""


def existing_keys(pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], KeyHolder]:
    """Find the tasks that hold these (kind, key) pairs already."""
    if not pairs:
        return {}
    found = sql.rows(EXISTING_KEYS, {"kinds": [p[0] for p in pairs], "keys": [p[1] for p in pairs]})
    return {(r[0], r[1]): KeyHolder(r[2], r[3], r[4]) for r in found}
