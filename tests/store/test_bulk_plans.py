"""A batch of a large bulk is reached by its places, on tables that nothing has analysed."""

from typing import Any

import pytest

from tasks_app.core.actions.bulks import BulkAction, BulkOrder
from tasks_app.models.ids import new_id
from tasks_app.store import sql
from tasks_app.store.actions import bulks
from tasks_app.store.actions.bulks import ADVANCE, LOCK_ITEMS
from tasks_app.store.reads.actions.bulks import first_back
from tests.floor import Floor

BATCH = {"first": 5_000, "end": 5_500, "whys": [None] * 500}


@pytest.mark.parametrize("statement", [ADVANCE, LOCK_ITEMS])
def test_a_batch_reads_its_own_items_only(floor: Floor, statement: str) -> None:
    bulk = new_id()
    bulks.open_bulk(bulk, BulkOrder(BulkAction.CANCEL, key="k"), actor="otto", wanted="", hold=10)
    sql.execute(
        "INSERT INTO bulk_item (bulk_id, place, task_id, requeues)"
        " SELECT %(bulk)s, n, gen_random_uuid(), 0 FROM generate_series(0, 9999) n",
        {"bulk": bulk},
    )
    plan = [row[0] for row in sql.rows_by_key(f"EXPLAIN {statement}", {**BATCH, "bulk": bulk})]
    (at,) = [n for n, line in enumerate(plan) if "bulk_item" in line and "Scan" in line]
    assert "place >= 5000" in plan[at + 1], "\n".join(plan)
    assert "place < 5500" in plan[at + 1], "\n".join(plan)
    assert not any("Function Scan on unnest" in line for line in plan)


def test_a_look_for_an_error_that_came_back_goes_from_the_latest_deaths(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A table of one row, as the planner sees it now, is read as a whole where it may.
    sql.execute("ANALYZE task")
    plan: list[str] = []
    ask = sql.rows_in_index_order

    def explained(statement: str, params: sql.Params) -> list[tuple[Any, ...]]:
        plan.extend(row[0] for row in ask(f"EXPLAIN {statement}", params))
        return ask(statement, params)

    monkeypatch.setattr(sql, "rows_in_index_order", explained)
    assert first_back(new_id(), 5_000) == []
    assert "bulk_item_task" in "\n".join(plan)
    assert "task_dead" in "\n".join(plan)
    assert "Seq Scan" not in "\n".join(plan)
