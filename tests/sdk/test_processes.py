"""Slots that are child processes: crashes, hard limits, and nothing left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks_app.sdk.handlers import HandlerError
from tests.sdk import misbehaving
from tests.sdk.conftest import Start
from tests.sdk.plane import Plane


@pytest.mark.parametrize(
    ("way", "ending"),
    [
        ("segfault", "was ended by SIGSEGV"),
        ("abort", "was ended by SIGABRT"),
        ("kill", "was ended by SIGKILL"),
        ("0", "exited with code 0"),
        ("9", "exited with code 9"),
    ],
)
def test_crash_kills_only_the_child_and_is_reported(
    plane: Plane, start: Start, way: str, ending: str
) -> None:
    running = start(processes=True, slots=2)
    crashing, beside = plane.assign("dying", way), plane.assign("polite", 0.5)
    plane.wait_until(lambda: plane.failed and plane.completed)
    failure = plane.failed[crashing.task_id]
    assert failure.crashed
    assert failure.error.type == "WorkerCrashed"
    assert ending in failure.error.message
    assert plane.completed[beside.task_id] == "slept"
    after = [plane.assign("echo", number) for number in range(4)]
    plane.wait_until(lambda: len(plane.completed) == 5)
    assert {grant.task_id for grant in after} < set(plane.completed)
    assert not running.ended()


def test_children_live_on_from_task_to_task(plane: Plane, start: Start) -> None:
    start(processes=True, slots=2)
    for _ in range(10):
        plane.assign("pid")
    plane.wait_until(lambda: len(plane.completed) == 10)
    pids = set(plane.completed.values())
    assert len(pids) <= 2
    assert os.getpid() not in pids


def test_a_child_is_replaced_after_so_many_tasks(plane: Plane, start: Start) -> None:
    start(processes=True, slots=1, max_tasks_per_child=2)
    grants = [plane.assign("pid") for _ in range(6)]
    plane.wait_until(lambda: len(plane.completed) == 6)
    pids = [plane.completed[grant.task_id] for grant in grants]
    assert pids[0::2] == pids[1::2]
    assert len(set(pids)) == 3


def test_a_child_that_holds_too_much_memory_is_replaced(plane: Plane, start: Start) -> None:
    start(processes=True, slots=1, max_memory_per_child=90)
    grants = [plane.assign("leaking", 80) for _ in range(4)]
    plane.wait_until(lambda: len(plane.completed) == 4)
    assert len({plane.completed[grant.task_id] for grant in grants}) == 4


def test_a_task_whose_child_others_had_worn_out_goes_back_without_an_attempt(
    plane: Plane, start: Start
) -> None:
    start(processes=True, slots=1)
    first, second, third = (plane.assign("leaking", 60) for _ in range(3))
    plane.wait_until(lambda: len(plane.completed) + len(plane.released) == 3)
    assert plane.released == [second.token]
    assert set(plane.completed) == {first.task_id, third.task_id}
    again = plane.assign("leaking", 1, task_id=second.task_id)
    plane.wait_until(lambda: again.task_id in plane.completed)
    assert not plane.failed


def test_no_task_fails_for_the_memory_that_others_used_up(plane: Plane, start: Start) -> None:
    start(processes=True, slots=2, child_setup=misbehaving.limit_memory)
    tasks = {(grant := plane.assign("hoarding")).token: grant.task_id for _ in range(16)}
    given_again = 0
    while len(plane.completed) < 16:
        plane.wait_until(
            lambda: len(plane.completed) == 16 or len(plane.released) > given_again or plane.failed  # noqa: B023
        )
        assert not plane.failed, plane.failed
        for token in plane.released[given_again:]:
            again = plane.assign("hoarding", task_id=tasks[token])
            tasks[again.token] = again.task_id
            given_again += 1
    assert given_again > 0, "some child ran out of memory"


def test_a_task_that_needs_too_much_memory_itself_is_charged(plane: Plane, start: Start) -> None:
    start(processes=True, slots=1)
    alone = plane.assign("leaking", 101)
    plane.wait_until(lambda: plane.failed)
    assert plane.failed[alone.task_id].error.type == "MemoryError", "its child was a fresh one"
    before = plane.assign("echo")
    plane.wait_until(lambda: before.task_id in plane.completed)
    beside = plane.assign("leaking", 101)
    plane.wait_until(lambda: plane.released == [beside.token])
    after = [plane.assign("echo"), plane.assign("leaking", 101, task_id=beside.task_id)]
    plane.wait_until(lambda: beside.task_id in plane.failed)
    assert plane.released == [beside.token], "a second time in the same worker it had a fresh child"
    plane.wait_until(lambda: after[0].task_id in plane.completed)


def test_hard_timeout_kills_a_handler_that_is_deaf(plane: Plane, start: Start) -> None:
    running = start(processes=True, slots=1)
    grant, after = plane.assign("sleeper", 60, timeout=0.3), plane.assign("echo")
    plane.wait_until(lambda: after.task_id in plane.completed)
    failure = plane.failed[grant.task_id]
    assert failure.timed_out
    assert not failure.crashed
    assert not running.ended()


def test_cancel_lets_a_polite_handler_go_and_kills_a_deaf_one(plane: Plane, start: Start) -> None:
    start(processes=True, slots=3)
    grants = [
        plane.assign("polite"),
        plane.assign("async_polite"),
        plane.assign("sleeper", 60),
    ]
    plane.wait_until(lambda: len(plane.held) == 3)
    plane.orders_cancel.update(grant.token for grant in grants)
    plane.wait_until(lambda: len(plane.released) == 3)
    assert not plane.failed


def test_lost_task_is_killed_and_not_reported(plane: Plane, start: Start) -> None:
    start(processes=True, slots=1)
    grant = plane.assign("sleeper", 60)
    plane.wait_until(lambda: grant.token in plane.held)
    plane.revoke(grant)
    after = plane.assign("echo")
    plane.wait_until(lambda: after.task_id in plane.completed)
    assert not plane.late
    assert not plane.failed


def test_progress_results_and_errors_come_through_the_pipe(plane: Plane, start: Start) -> None:
    start(processes=True, slots=3)
    slow, strange = plane.assign("progressing", 1.0), plane.assign("strange")
    wrong = plane.assign("permanent")
    plane.wait_until(lambda: slow.token in plane.progress and len(plane.completed) == 2)
    assert plane.progress[slow.token].note == "a quarter\ufffd"
    assert plane.completed[strange.task_id]["nan"] == "NaN"
    error = plane.failed[wrong.task_id].error
    assert error.type == "KeyError"
    assert error.permanent
    assert "misbehaving.py" in error.traceback


def test_drain_kills_what_outlives_the_grace_and_releases_it(plane: Plane, start: Start) -> None:
    running = start(processes=True, slots=1, grace=0.1)
    grant = plane.assign("sleeper", 60)
    plane.wait_until(lambda: grant.token in plane.held)
    assert running.leave() == 0
    assert plane.released == [grant.token]
    assert not running.exits


def test_given_function_is_called_before_each_task_in_its_child(plane: Plane, start: Start) -> None:
    start(processes=True, slots=1, before_task=misbehaving.note_call)
    grants = [plane.assign("calls_before") for _ in range(3)]
    plane.wait_until(lambda: len(plane.completed) == 3)
    assert [plane.completed[grant.task_id] for grant in grants] == [1, 2, 3]


def test_script_without_a_main_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from tasks_app.sdk.options import Options\n"
        "from tasks_app.sdk.runtime import Worker\n"
        "from tests.sdk.plane import Plane\n"
        "options = Options(['tests.sdk.misbehaving'], slots=1, processes=True)\n"
        "Worker(Plane(), options).run()\n"
    )
    ended = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 1
    assert "if __name__ == '__main__':" in ended.stderr


def test_no_child_is_left_when_the_worker_has_left(plane: Plane, start: Start) -> None:
    running = start(processes=True, slots=2)
    grant = plane.assign("pid")
    plane.wait_until(lambda: plane.completed)
    child = plane.completed[grant.task_id]
    assert Path(f"/proc/{child}").exists()
    assert running.leave() == 0
    assert not Path(f"/proc/{child}").exists()


def _no_setup() -> None:
    raise RuntimeError("settings are missing")


def test_child_that_cannot_load_its_handlers_is_one_clear_error(start: Start) -> None:
    running = start(processes=True, slots=1, child_setup=_no_setup)
    running.join()
    assert isinstance(running.error, HandlerError)
    assert "settings are missing" in str(running.error)
