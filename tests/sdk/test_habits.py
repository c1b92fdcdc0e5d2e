"""What ordinary handlers do works alike in threads and in processes, task after task."""

import asyncio
from typing import Any, Final

import pytest

from tests.sdk import habits
from tests.sdk.conftest import Start
from tests.sdk.plane import Plane

MODULES: Final = ("tests.sdk.habits",)

HABITS: Final = {
    "connection": "hello",
    "lock": "held",
    "background": "well",
    "executor": "run",
    "stops_loop": "went on",
    "exits_behind": "went on",
    "async_program": "said",
    "async_waits": "in time",
    "async_variable": "none",
    "variable": "none",
    "own_loop": "ran",
    "program": "said\n",
    "thread": "helped",
}
"""The kind of each habit, and what every one of its tasks returns."""


@pytest.fixture(autouse=True)
def as_imported() -> None:
    """Each worker has one loop for good, and here one process sees several workers."""
    habits.KEPT.clear()
    habits.LOCK = asyncio.Lock()


@pytest.mark.parametrize("processes", [False, True], ids=["threads", "processes"])
@pytest.mark.parametrize("kind", HABITS)
def test_a_habit_works_for_the_first_task_and_for_every_further_one(
    plane: Plane, start: Start, kind: str, processes: bool
) -> None:
    start(modules=MODULES, processes=processes, slots=2)
    for _ in range(6):
        plane.assign(kind)
    plane.wait_until(lambda: len(plane.completed) + len(plane.failed) == 6)
    assert list(plane.completed.values()) == [HABITS[kind]] * 6, _messages(plane)


def _messages(plane: Plane) -> list[Any]:
    return [failure.error.message for failure in plane.failed.values()]


@pytest.mark.parametrize("kind", ["stops_loop", "exits_behind"])
def test_a_handler_that_ends_its_loop_ends_no_other_ones_work(
    plane: Plane, start: Start, kind: str
) -> None:
    start(modules=MODULES, slots=4)
    beside = [plane.assign("connection") for _ in range(2)]
    ending = plane.assign(kind)
    after = plane.assign("background")
    plane.wait_until(lambda: len(plane.completed) == 4)
    assert {grant.task_id for grant in [*beside, ending, after]} == set(plane.completed)


def test_handlers_in_a_child_read_nothing(plane: Plane, start: Start) -> None:
    start(modules=MODULES, processes=True, slots=1)
    grant = plane.assign("reads_input")
    plane.wait_until(lambda: plane.completed or plane.failed)
    assert plane.completed[grant.task_id] == "/dev/null"
