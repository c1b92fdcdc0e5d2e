"""No record makes a page slow: what one page draws is bounded, counted by its parts."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tasks_app.core.drawing import graph_layout
from tasks_app.core.drawing.graph_layout import MOST_PULLS, lay_out
from tasks_app.core.drawing.levels import levels_of
from tasks_app.core.drawing.page_room import (
    CHARACTERS_OF_A_PAGE,
    LINES_OF_A_PAGE,
    TRACES_OF_A_PAGE,
    VALUES_OF_A_PAGE,
    VALUES_OF_ONE,
    Room,
)
from tasks_app.core.masking.hidden_actions import EDIT
from tasks_app.core.masking.hidden_conditions import shown_plan
from tasks_app.core.masking.redaction import MASK, Budget
from tasks_app.core.states import OnDead
from tasks_app.models import Attempt, Task
from tasks_app.models.task_logs import TaskLog
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor
from tasks_app.store.reads.actions.task_actions import MOST_CHANGES
from tasks_app.templatetags.json_viewer import json_tree
from tests.floor import Floor
from tests.web.conftest import Person


def drawn(html: str) -> int:
    return html.count("<li>")


def test_all_the_json_of_a_page_shares_its_room() -> None:
    room = Room()
    pages = [json_tree(["x"] * 5_000, room) for _ in range(10)]
    assert [drawn(page) for page in pages[:3]] == [VALUES_OF_ONE] * 3
    assert sum(map(drawn, pages)) == VALUES_OF_A_PAGE
    assert "Cut after 2000 values" in pages[0]
    assert "Cut after 0 values" in pages[-1]


def test_long_texts_and_keys_share_a_page_s_characters() -> None:
    room = Room()
    pages = [json_tree({"k" * 100_000: "v" * 200_000}, room) for _ in range(20)]
    assert sum(map(len, pages)) < CHARACTERS_OF_A_PAGE + 20 * 3_000
    assert "the file has all of it" in pages[-1]


def test_json_as_deep_as_the_record_takes_is_drawn() -> None:
    value: Any = "at the bottom"
    for _ in range(80):
        value = [value]
    assert "at the bottom" in json_tree(value)


def test_the_inputs_of_a_page_share_its_room(floor: Floor, viewer: Person) -> None:
    sources = floor.submit(60)
    Task.objects.filter(id__in=sources).update(
        status="COMPLETED", result=[f"value {n}" for n in range(1_500)]
    )
    (task,) = floor.submit(1, needs=[(each, OnDead.WAIT) for each in sources])
    with_inputs = Task.objects.get(id=task).dependencies
    with_inputs.update(state="met")
    html = viewer.text("task", task)
    assert html.count('<li><span class="k at">') <= VALUES_OF_A_PAGE


def test_the_latest_tracebacks_and_log_lines_are_shown_and_the_rest_is_said_to_be_left_out(
    floor: Floor, viewer: Person
) -> None:
    worker = floor.worker("w1")
    (task,) = floor.submit(1)
    said = Task.objects.get(id=task).created_at
    for token in range(1, 41):
        Attempt.objects.create(
            token=token,
            task_id=task,
            kind="job",
            worker_id=worker,
            number=token,
            assigned_at=said,
            started_at=said,
            outcome="error",
            error={"type": "E", "message": "m", "traceback": f"{token:05}" + "t" * 19_995},
        )
        lines = [[1.0, "INFO", f"line {n} of {token}"] for n in range(50)]
        TaskLog.objects.create(token=token, task_id=task, lines=lines)
    html = viewer.text("task", task)
    assert html.count("t" * 19_995) == TRACES_OF_A_PAGE // 20_000
    assert "00040ttt" in html
    assert "00001ttt" not in html
    assert len(re.findall(r"line \d+ of", html)) == LINES_OF_A_PAGE
    assert "line 49 of 40" in html
    assert html.count("is left out") == 30


def test_a_change_of_many_places_is_shown_as_far_as_a_page_shows(
    floor: Floor, viewer: Person
) -> None:
    (task,) = floor.submit(1)
    before = {f"$.k{n}": n for n in range(200)}
    for _ in range(3):
        change = (before, dict.fromkeys(before, "x" * 400))
        note(Actor("otto"), EDIT, str(task), change=change, tasks=[str(task)])
    html = viewer.text("task", task)
    assert html.count("<ins>") == 3 * MOST_CHANGES
    assert html.count("The audit has all of them") == 3


def dense(count: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((f"s{n}", tuple(f"s{need}" for need in range(n))) for n in range(count))


def test_a_graph_of_many_edges_is_laid_out_by_the_short_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[int] = []
    order: Callable[..., None] = graph_layout._order

    def counted(grid: Any, neighbours: Any, *, forward: bool) -> None:
        looked_at.append(sum(map(len, neighbours.values())))
        order(grid, neighbours, forward=forward)

    monkeypatch.setattr(graph_layout, "_order", counted)
    layout = lay_out.__wrapped__(dense(150))
    assert len(layout.routes) == 150 * 149 // 2
    assert max(looked_at) <= MOST_PULLS + graph_layout.MOST_BENDS


class Counted(tuple[str, ...]):
    """The needs of a step, which count how often they are read."""

    reads = 0

    def __iter__(self) -> Any:
        Counted.reads += 1
        return super().__iter__()


def test_the_levels_of_ten_thousand_steps_in_a_row_are_found_in_one_look() -> None:
    Counted.reads = 0
    steps = {f"s{n}": Counted([f"s{n - 1}"] if n else []) for n in reversed(range(10_000))}
    levels = levels_of(steps)
    assert levels["s9999"] == 9_999
    assert next(iter(levels)) == "s0"
    assert Counted.reads <= len(steps)


def test_a_plan_of_more_values_than_a_page_may_visit_is_hidden_whole() -> None:
    plan = {"steps": [{"name": "a", "kind": "b", "payload": [{"x": 1}] * 1_000}]}
    assert shown_plan(plan, {"b": frozenset(["y"])}, Budget(values=500)) == MASK
    assert json.dumps(shown_plan(plan, {"b": frozenset(["y"])}, Budget())) == json.dumps(plan)
