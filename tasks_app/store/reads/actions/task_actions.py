"""What people did to one task: from the audit, and by bulk actions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from tasks_app.store import sql
from tasks_app.store.reads.search.task_detail import TaskDetail

AUDIT_LOOKED_AT: Final = 500

MOST_CHANGES: Final = 20
"""Places of one change that a page shows."""

LONGEST_CHANGES: Final = 100_000
"""Bytes on disk of all changes that a page shows, the latest first."""

# Acts of people are few, and no act on a task is older than the task.
ACTS = """
SELECT at, actor, action, reason, CASE WHEN fits THEN before END, CASE WHEN fits THEN after END,
       NOT fits
  FROM (SELECT *, coalesce(sum(size) OVER (ORDER BY at DESC, size), 0) <= %(longest)s AS fits FROM (
 SELECT *, coalesce(pg_column_size(before), 0) + coalesce(pg_column_size(after), 0) AS size FROM (
    (SELECT at, actor, action, reason, before, after
       FROM (SELECT * FROM audit_entry WHERE at >= %(since)s ORDER BY id DESC
              LIMIT %(looked_at)s) e
      WHERE detail -> 'tasks' ? %(task)s
      ORDER BY id DESC LIMIT 50)
    UNION ALL
    (SELECT coalesce(b.finished_at, b.begins_at), b.actor, b.action, b.reason, NULL,
            nullif(b.params, '{}')
       FROM bulk_item i JOIN bulk b ON b.id = i.bulk_id
      WHERE i.task_id = %(task)s::uuid AND i.state = 'moved'
      ORDER BY b.id DESC LIMIT 50)
) a
  ORDER BY at DESC
  LIMIT 50) b) c
 ORDER BY at DESC
"""


@dataclass(frozen=True, slots=True)
class Act:
    """What a person did to a task; ``cut``: its change is longer than a page shows."""

    at: datetime
    actor: str
    action: str
    reason: str
    before: Any = None
    after: Any = None
    cut: bool = False

    @property
    def changes(self) -> Sequence[tuple[str, str, str]]:
        """What was changed: (place, before, after) as texts, "" where nothing is known.

        At most ``MOST_CHANGES``. Of a bulk only what it changed to is known: what was before is
        counted over all its tasks.
        """
        before, after = self.before or {}, self.after or {}
        if self.action != "edit and requeue":
            had = {place: next(iter(before.get(place) or [""])) for place in after}
            return [(place, had[place], _plain(value)) for place, value in after.items()]
        places = list(dict.fromkeys([*before, *after]))[:MOST_CHANGES]
        return [(place, _told(before, place), _told(after, place)) for place in places]

    @property
    def is_cut(self) -> bool:
        """Whether there was more to its change: the audit has all of it."""
        return self.cut or len({*(self.before or ()), *(self.after or ())}) > MOST_CHANGES


def _plain(value: Any) -> str:
    return "none" if value is None else str(value)


def _told(side: Mapping[str, Any], place: str) -> str:
    return json.dumps(side[place], ensure_ascii=False)[:500] if place in side else ""


def list_acts(task: TaskDetail) -> Sequence[Act]:
    """Acts on a task among the latest ``AUDIT_LOOKED_AT`` of the audit, the last first."""
    params = {
        "since": task.created_at,
        "task": str(task.id),
        "looked_at": AUDIT_LOOKED_AT,
        "longest": LONGEST_CHANGES,
    }
    return [
        Act(at, actor, action, reason, sql.loaded(before), sql.loaded(after), cut)
        for at, actor, action, reason, before, after, cut in sql.rows(ACTS, params)
    ]
