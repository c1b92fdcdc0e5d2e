"""The supervisor's page: shifts and hand-overs, rounds and their lengths, sweeps, what was left."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tasks_app.core.dispatch.shifts import ROUND_LENGTHS
from tasks_app.store import sql

SHIFTS_SHOWN: Final = 20
REPLICA_SECONDS: Final = 15.0
"""A replica that stood by so recently is counted as there: it says so every two seconds."""

SHIFTS = """
SELECT epoch, holder, began_at, ended_at, ending, rounds, dispatched, silent_seconds,
       extract(epoch FROM coalesce(ended_at, statement_timestamp()) - began_at)::float8
  FROM shift
 ORDER BY began_at DESC
 LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class ShiftRow:
    """One leader's time on duty; ``silent_seconds`` nobody had run a round before it."""

    epoch: int
    holder: str
    began_at: datetime
    ended_at: datetime | None
    ending: str | None
    rounds: int | None
    dispatched: int | None
    silent_seconds: float | None
    seconds: float


def list_shifts() -> list[ShiftRow]:
    """The latest shifts, the last first, at most ``SHIFTS_SHOWN``."""
    return [ShiftRow(*row) for row in sql.rows(SHIFTS, {"limit": SHIFTS_SHOWN})]


HAND_OVERS = """
SELECT count(*), count(*) FILTER (WHERE ending = 'lost'),
       max(silent_seconds) FILTER (WHERE began_at > statement_timestamp() - interval '1 day')
  FROM shift
 WHERE began_at > statement_timestamp() - interval '1 day'
"""


@dataclass(frozen=True, slots=True)
class HandOvers:
    """The shifts of the last day: how many, how many ended without a word, the longest silence."""

    shifts: int
    lost: int
    longest_silence: float | None


def count_hand_overs() -> HandOvers:
    """Count the shifts of the last day: at most some thousands."""
    found = sql.row(HAND_OVERS)
    return HandOvers(0, 0, None) if found is None else HandOvers(*found)


REPLICAS = """
SELECT holder, seen_at FROM replica
 WHERE seen_at > statement_timestamp() - %(seconds)s * interval '1 second'
   AND holder <> (SELECT holder FROM leader WHERE id = 1)
 ORDER BY holder
 LIMIT 50
"""


@dataclass(frozen=True, slots=True)
class ReplicaRow:
    """Somebody who stands by."""

    holder: str
    seen_at: datetime


def list_replicas() -> list[ReplicaRow]:
    """Who stands by, leaders apart."""
    return [ReplicaRow(*row) for row in sql.rows(REPLICAS, {"seconds": REPLICA_SECONDS})]


# Arrays of one length each: the sum is taken place by place.
ROUNDS = """
WITH recent AS (
    SELECT * FROM sample
     WHERE resolution = 1 AND at > statement_timestamp() - interval '1 hour'
), totals AS (
    SELECT coalesce(sum(rounds), 0)::bigint, coalesce(sum(dispatched), 0)::bigint,
           coalesce(sum(dispatch_seconds), 0)::float8, coalesce(max(longest_round_seconds), 0),
           coalesce(sum(reclaimed), 0)::bigint, coalesce(sum(promoted), 0)::bigint, count(*)
      FROM recent
), classes AS (
    SELECT array_agg(n ORDER BY place) FROM (
        SELECT l.place, sum(l.n)::bigint AS n
          FROM recent, unnest(lengths) WITH ORDINALITY AS l(n, place)
         GROUP BY l.place) summed
)
SELECT * FROM totals, classes
"""


@dataclass(frozen=True, slots=True)
class LengthClass:
    """Rounds of a class of lengths: up to ``most`` seconds; the last one, None, is longer."""

    most: float | None
    rounds: int


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of the last hour, added up over ``samples`` seconds with a sample."""

    rounds: int
    dispatched: int
    dispatch_seconds: float
    longest_seconds: float
    reclaimed: int
    promoted: int
    samples: int
    lengths: Sequence[LengthClass]


def read_rounds() -> Rounds:
    """Add the last hour's samples up: 3,600 narrow rows."""
    found = sql.row(ROUNDS)
    assert found is not None, "totals have one row always"
    counts = found[7] or [0] * (len(ROUND_LENGTHS) + 1)
    classes = zip([*ROUND_LENGTHS, None], counts, strict=True)
    return Rounds(*(*found[:7], [LengthClass(most, int(n)) for most, n in classes]))


MINUTES = """
SELECT date_trunc('minute', at), sum(rounds), sum(dispatched), sum(reclaimed), sum(promoted),
       max(longest_round_seconds)
  FROM sample
 WHERE resolution = 1 AND at > statement_timestamp() - interval '1 hour'
 GROUP BY 1
HAVING sum(reclaimed) > 0 OR sum(promoted) > 0
 ORDER BY 1 DESC
 LIMIT 10
"""


@dataclass(frozen=True, slots=True)
class SweptMinute:
    """One minute in which a sweep found something."""

    at: datetime
    rounds: int
    dispatched: int
    reclaimed: int
    promoted: int
    longest_seconds: float


def list_swept() -> list[SweptMinute]:
    """The last minutes of this hour in which leases were reclaimed or retries came due."""
    return [SweptMinute(*row) for row in sql.rows(MINUTES)]


UNPLACED = """
SELECT at, unplaced FROM sample
 WHERE resolution = 1 AND at > statement_timestamp() - interval '1 minute'
 ORDER BY at DESC
 LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Unplaced:
    """Tasks of one kind that were ready and that a round could not place, and why."""

    kind: str
    left: str
    tasks: int


def list_unplaced() -> tuple[datetime | None, Sequence[Unplaced]]:
    """When the last round on record stood, and what it left, the most first."""
    found = sql.row(UNPLACED)
    if found is None:
        return None, ()
    entries = json.loads(found[1]) if isinstance(found[1], str) else found[1]
    return found[0], [Unplaced(*entry) for entry in entries]
