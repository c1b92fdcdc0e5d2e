"""What an act on many tasks would touch: looked at before it is done, in one statement."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from tasks_app.core.actions.bulks import TOUCHES, BulkAction
from tasks_app.store import sql
from tasks_app.store.reads.failures.hopeless import HOPELESS_PARAMS, NEVER_RUNS

LOCKS_SHOWN = 5

# What an act is about to change: of each priority and each deadline, how many tasks have it.
CHANGED: Final = """
       (SELECT coalesce(jsonb_object_agg(priority, n), jsonb_build_object())::text
          FROM (SELECT priority, count(*) AS n FROM {tasks} GROUP BY priority
                 ORDER BY count(*) DESC LIMIT 20) p),
       (SELECT coalesce(jsonb_object_agg(coalesce(deadline, 'none'), n), jsonb_build_object())::text
          FROM (SELECT to_char(deadline_at AT TIME ZONE 'UTC',
                               'YYYY-MM-DD"T"HH24:MI:SS+00:00') AS deadline, count(*) AS n
                  FROM {tasks} GROUP BY deadline ORDER BY count(*) DESC, deadline LIMIT 20) d)
"""

# A lock that was filled in from a result may name what is hidden there: it is counted, not named.
# Few of the tasks have dependents or dependencies; only theirs are looked up.
PREVIEW = f"""
WITH chosen AS MATERIALIZED (
    SELECT t.id, t.kind, t.status, t.estimate_seconds, t.lock_key, t.has_dependents,
           t.dependency_count, t.priority, t.deadline_at,
           t.status = ANY (%(touches)s::text[]) AS fits,
           t.origins @? '$[*][0] ? (@[0] == "lock_key")' IS TRUE AS filled
      FROM unnest(%(ids)s::uuid[]) AS i(id) JOIN task t ON t.id = ANY (ARRAY[i.id])
), closed AS (
    SELECT DISTINCT c.id FROM chosen c
      JOIN dependency d ON d.task_id = ANY (ARRAY[c.id])
      JOIN task p ON p.id = ANY (ARRAY[d.depends_on_id])
     WHERE c.fits AND c.dependency_count > 0 AND %(requeues)s
       AND {NEVER_RUNS}
), dependents AS (
    SELECT DISTINCT d.task_id FROM chosen c
      JOIN dependency d ON d.depends_on_id = ANY (ARRAY[c.id])
       AND d.state IN ('blocked', 'waiting')
      JOIN task p ON p.id = ANY (ARRAY[d.task_id]) AND p.status = 'PENDING'
     WHERE c.has_dependents AND c.fits
), locks AS (
    SELECT lock_key, count(*) AS n, sum(estimate_seconds) AS seconds, bool_or(filled) AS filled
      FROM chosen WHERE fits AND lock_key IS NOT NULL GROUP BY lock_key HAVING count(*) > 1
)
SELECT statement_timestamp(),
       (SELECT coalesce(jsonb_agg(jsonb_build_array(kind, status, fits, n, seconds)
                                  ORDER BY n DESC, kind, status), '[]')::text
          FROM (SELECT kind, status, fits, count(*) AS n, sum(estimate_seconds) AS seconds
                  FROM chosen c WHERE NOT EXISTS (SELECT FROM closed x WHERE x.id = c.id)
                 GROUP BY kind, status, fits) g),
       (SELECT count(*) FROM closed), (SELECT count(*) FROM dependents),
       (SELECT count(*) FROM locks), (SELECT coalesce(sum(n), 0) FROM locks),
       (SELECT max(seconds) FROM locks),
       (SELECT coalesce(array_agg(lock_key), '{{}}')
          FROM (SELECT lock_key FROM locks WHERE NOT filled
                 ORDER BY n DESC, lock_key LIMIT %(shown)s) l),
""" + CHANGED.format(tasks="chosen")  # noqa: S608  a constant


@dataclass(frozen=True, slots=True)
class Chosen:
    """Tasks of one kind and status: how many, their estimates in seconds, can they be touched."""

    kind: str
    status: str
    fits: bool
    tasks: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Preview:
    """What was found under the ids: ``chosen``, and those ``closed`` to a requeue by a dependency.

    ``locked`` tasks share ``locks`` locks, of which some are named; the work of the longest takes
    ``longest_lock`` seconds, one task after the other. ``dependents`` wait for the chosen.
    """

    as_of: datetime
    chosen: Sequence[Chosen]
    closed: int
    dependents: int
    locks: int
    locked: int
    longest_lock: float
    lock_names: Sequence[str]
    priorities: Mapping[str, int]
    deadlines: Mapping[str, int]

    @property
    def tasks(self) -> int:
        """How many there are at all."""
        return sum(each.tasks for each in self.chosen) + self.closed


def read_preview(ids: Sequence[UUID], action: BulkAction) -> Preview:
    """Look at tasks before anything is done to them."""
    params = {
        "ids": sql.uuids(ids),
        "touches": sorted(TOUCHES[action]),
        "shown": LOCKS_SHOWN,
        "requeues": action is BulkAction.REQUEUE,
        **HOPELESS_PARAMS,
    }
    (row,) = sql.rows_by_key(PREVIEW, params)
    return Preview(
        as_of=row[0],
        chosen=[Chosen(*each) for each in json.loads(row[1])],
        closed=int(row[2]),
        dependents=int(row[3]),
        locks=int(row[4]),
        locked=int(row[5]),
        longest_lock=float(row[6] or 0.0),
        lock_names=row[7],
        priorities=json.loads(row[8]),
        deadlines=json.loads(row[9]),
    )
