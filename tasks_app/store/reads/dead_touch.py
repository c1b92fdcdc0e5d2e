"""What an act on dead letters would touch: looked at before it is done, and chosen again for it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.store import sql
from tasks_app.store.reads.dead_letters import DeadFilter

MOST_AT_ONCE: Final = 10_000
"""Dead letters that one act touches: some seconds of one transaction."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Dead letters that an act is about: these ids, or where ids is None those of a filter.

    ``as_of``, from ``read_touch``, leaves out those that died after it was shown what is touched:
    whoever clicks twice acts once, also on a task that has died again meanwhile.
    """

    ids: Sequence[UUID] | None = None
    wanted: DeadFilter = field(default_factory=DeadFilter)
    as_of: datetime | None = None

    def conditions(self) -> str:
        """The conditions on ``task t`` in SQL."""
        by_id = "t.status = 'DEAD' AND t.id = ANY (%(ids)s::uuid[])"
        chosen = self.wanted.conditions() if self.ids is None else by_id
        return chosen + (" AND t.finished_at <= %(as_of)s" if self.as_of else "")

    def params(self) -> dict[str, Any]:
        """The parameters of ``conditions``, and the bound."""
        ids = {"ids": list(self.ids or ()), "as_of": self.as_of, "most": MOST_AT_ONCE}
        return {**self.wanted.params(), **ids}


CHOSEN = """
SELECT t.id, t.kind, t.has_dependents FROM task t WHERE {conditions}
 ORDER BY t.finished_at, t.id LIMIT %(most)s
"""


def select_dead(selection: Selection) -> list[UUID]:
    """The ids that an act would touch, those longest dead first, at most ``MOST_AT_ONCE``."""
    statement = CHOSEN.format(conditions=selection.conditions())
    return [row[0] for row in sql.rows(statement, selection.params())]


TOUCH = """
WITH chosen AS MATERIALIZED ({chosen}),
dependents AS (
    SELECT DISTINCT d.task_id FROM chosen c
      JOIN dependency d ON d.depends_on_id = c.id AND d.state = 'blocked'
      JOIN task p ON p.id = d.task_id AND p.status = 'PENDING'
     WHERE c.has_dependents
)
SELECT statement_timestamp(),
       (SELECT coalesce(jsonb_object_agg(kind, n), '{{}}')::text
          FROM (SELECT kind, count(*) AS n FROM chosen GROUP BY kind) k),
       (SELECT count(*) FROM dependents)
"""


@dataclass(frozen=True, slots=True)
class Touch:
    """What an act would touch: dead letters by kind, and the tasks that wait for them."""

    as_of: datetime
    kinds: Mapping[str, int]
    dependents: int

    @property
    def tasks(self) -> int:
        """How many in all."""
        return sum(self.kinds.values())

    @property
    def capped(self) -> bool:
        """Whether there may be more than one act may touch."""
        return self.tasks >= MOST_AT_ONCE


def read_touch(selection: Selection) -> Touch:
    """Look before anything is done."""
    chosen = CHOSEN.format(conditions=selection.conditions())
    found = sql.row(TOUCH.format(chosen=chosen), selection.params())
    assert found is not None  # a SELECT without FROM has one row
    return Touch(found[0], json.loads(found[1]), int(found[2]))
