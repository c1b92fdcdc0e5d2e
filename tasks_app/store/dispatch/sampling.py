"""The rollup of counts and the samples that the screens draw."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tasks_app.store import sql
from tasks_app.store.reads.dispatch.readiness import READY_SINCE

# Deltas inserted while this runs are not seen and wait for the next fold.
FOLD = """
WITH taken AS (
    DELETE FROM status_delta
     WHERE id IN (SELECT id FROM status_delta ORDER BY id LIMIT %(limit)s)
    RETURNING kind, status, change, busy_seconds, gone
)
INSERT INTO status_count (kind, status, count, busy_seconds, gone)
SELECT kind, status, sum(change), sum(busy_seconds), sum(gone) FROM taken GROUP BY kind, status
ON CONFLICT (kind, status) DO UPDATE
   SET count = status_count.count + excluded.count,
       busy_seconds = status_count.busy_seconds + excluded.busy_seconds,
       gone = status_count.gone + excluded.gone
"""


def fold_deltas(limit: int) -> int:
    """Fold up to ``limit`` deltas into the counts; return how many counts changed."""
    return sql.execute(FOLD, {"limit": limit})


# Completions and busy seconds are what the counts gained since the sample before.
RECORD = f"""
INSERT INTO sample (resolution, at, by_status, active, oldest_created_at, rounds, dispatched,
                    completed, busy_seconds, dispatch_seconds, longest_round_seconds, reclaimed,
                    promoted, lengths, unplaced, gone)
SELECT 1, statement_timestamp(),
       (SELECT coalesce(jsonb_object_agg(status, n), '{{}}')
          FROM (SELECT status, sum(count) AS n FROM status_count GROUP BY status) s
         WHERE n <> 0),
       (SELECT coalesce(jsonb_object_agg(w.name, coalesce(l.n, 0)), '{{}}')
          FROM worker w
          LEFT JOIN (SELECT worker_id, count(*) AS n FROM lease GROUP BY worker_id) l
            ON l.worker_id = w.id
         WHERE w.state IN ('active', 'draining')),
       (SELECT min({READY_SINCE}) FROM task
         WHERE status IN ('ASSIGNED', 'FAILED', 'PENDING', 'RUNNING') AND waiting_on = 0
           AND {READY_SINCE} <= statement_timestamp()
           AND kind NOT IN (SELECT name FROM kind WHERE by_people)),
       %(rounds)s, %(dispatched)s, %(completed)s, %(busy_seconds)s, %(dispatch_seconds)s,
       %(longest_round_seconds)s, %(reclaimed)s, %(promoted)s, %(lengths)s::int[], %(unplaced)s,
       (SELECT coalesce(sum(gone), 0) FROM status_count WHERE status = 'COMPLETED')
ON CONFLICT DO NOTHING
"""  # noqa: S608  a constant


@dataclass(frozen=True, slots=True)
class Figures:
    """What a sample adds up since the one before, as ``models.Sample`` has it; seconds."""

    rounds: int
    dispatched: int
    completed: int
    busy_seconds: float
    dispatch_seconds: float
    longest_round_seconds: float
    reclaimed: int
    promoted: int
    lengths: Sequence[int]
    unplaced: Sequence[tuple[str, str, int]]


def record_sample(figures: Figures) -> None:
    """Write the sample of this second."""
    values = asdict(figures)
    sql.execute(
        RECORD,
        {
            **values,
            "lengths": list(figures.lengths),
            "unplaced": sql.jsonb(list(figures.unplaced)),
        },
    )


# Since when completions are counted is known from the record, whoever wrote the last sample. On a
# record whose samples were written before that was noted, the first one says none.
SAMPLED = """
SELECT coalesce(sampled_completed, CASE WHEN EXISTS (SELECT FROM sample) THEN %(completed)s
                                        ELSE 0 END)::bigint,
       coalesce(sampled_busy_seconds, CASE WHEN EXISTS (SELECT FROM sample) THEN %(busy)s
                                           ELSE 0 END)::float8
  FROM leader WHERE id = 1
"""


def sampled_until_now(completed: int, busy: float) -> tuple[int, float]:
    """What the latest sample had counted up to: completions ever, and the seconds they ran."""
    found = sql.row(SAMPLED, {"completed": completed, "busy": busy})
    return (completed, busy) if found is None else (int(found[0]), float(found[1]))


NOTE_SAMPLED = """
UPDATE leader SET sampled_completed = %(completed)s, sampled_busy_seconds = %(busy)s WHERE id = 1
"""


def note_sampled(completed: int, busy: float) -> None:
    """Note what this sample counts up to; it stands or falls with the sample."""
    sql.execute(NOTE_SAMPLED, {"completed": completed, "busy": busy})


# A minute's row shows its last second and the sum of its work. The minute that still runs is left
# for later, and one that is there already stays as it was written.
ROLL_UP = """
INSERT INTO sample (resolution, at, by_status, active, oldest_created_at, rounds, dispatched,
                    completed, busy_seconds, dispatch_seconds, longest_round_seconds, reclaimed,
                    promoted, gone)
SELECT 60, date_trunc('minute', at),
       (array_agg(by_status ORDER BY at DESC))[1], (array_agg(active ORDER BY at DESC))[1],
       (array_agg(oldest_created_at ORDER BY at DESC))[1],
       sum(rounds), sum(dispatched), sum(completed), sum(busy_seconds), sum(dispatch_seconds),
       max(longest_round_seconds), sum(reclaimed), sum(promoted), max(gone)
  FROM sample
 WHERE resolution = 1
   AND at < date_trunc('minute', statement_timestamp())
 GROUP BY date_trunc('minute', at)
ON CONFLICT DO NOTHING
"""

PRUNE = """
DELETE FROM sample WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM sample
     WHERE (resolution = 1 AND at < statement_timestamp() - interval '1 hour')
        OR (resolution = 60 AND at < statement_timestamp() - interval '30 days')
     LIMIT %(limit)s))
"""


def roll_up_minutes() -> int:
    """Write the minute rows that are complete and drop samples past their keep; return new rows."""
    written = sql.execute(ROLL_UP)
    sql.execute(PRUNE, {"limit": sql.CLEARED_AT_ONCE})
    return written
