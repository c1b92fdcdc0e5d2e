"""``manage.py work``: its errors in one sentence, and a real worker on the real record."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tasks_app.core.states import Outcome, Status
from tasks_app.models import Worker
from tasks_app.sdk.options import default_name
from tests.floor import Floor
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]

Work = Callable[..., "subprocess.Popen[str]"]


def refused(*arguments: str) -> str:
    """What the command says instead of working."""
    with pytest.raises(CommandError) as error:
        call_command("work", *arguments, stdout=StringIO())
    return str(error.value)


def test_missing_module_is_named() -> None:
    assert "cannot import module 'no_such_module'" in refused("--handlers", "no_such_module")


def test_module_without_handlers_says_what_to_write() -> None:
    assert "put @handler(" in refused("--handlers", "tests.sdk.plane")


def test_handlers_must_be_named() -> None:
    assert "--handlers" in refused()


@pytest.mark.parametrize("slots", ["0", "-1", "many", "1001", "1_0", "\uff18", " 8", "8.0"])
def test_slots_must_be_a_sensible_number(slots: str) -> None:
    assert "whole number from 1 to 1000" in refused("--handlers", "x", f"--slots={slots}")


@pytest.mark.parametrize("grace", ["-1", "soon", "nan", "inf"])
def test_grace_must_be_seconds(grace: str) -> None:
    assert "give seconds" in refused("--handlers", "x", f"--grace={grace}")


@pytest.mark.parametrize("name", ["", "  ", "a" * 101, "a\nb"])
def test_name_must_fit_its_column(name: str) -> None:
    assert "1 to 100 printable characters" in refused("--handlers", "x", f"--name={name}")


@pytest.fixture
def floor(record: None) -> Floor:
    floor = Floor()
    floor.settings(heartbeat_seconds=0.2, stale_after_seconds=5.0)
    return floor


@pytest.fixture
def work(process_env: Mapping[str, str], floor: Floor) -> Iterator[Work]:
    """Start worker processes that are registered when the call returns."""
    started: list[subprocess.Popen[str]] = []

    def begin(*options: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [
                sys.executable,
                str(ROOT / "manage.py"),
                "work",
                "--handlers",
                "tests.sdk.misbehaving",
                *options,
            ],
            cwd=ROOT,
            env={**os.environ, **process_env},
            text=True,
        )
        started.append(process)
        wait_for(lambda: Worker.objects.filter(pid=process.pid).exists(), "it registers")
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()


def state_of(process: "subprocess.Popen[str]") -> str:
    """What the record says of a worker process."""
    return str(Worker.objects.get(pid=process.pid).state)


@pytest.mark.parametrize("options", [(), ("--processes",)], ids=["threads", "processes"])
def test_tasks_are_done_failed_and_drained_on_the_real_record(
    floor: Floor, work: Work, options: tuple[str, ...]
) -> None:
    process = work("--name", "w1", "--slots", "2", *options)
    worker = Worker.objects.get(pid=process.pid)
    assert (worker.name, worker.slots) == ("w1", 2)
    (echo,), (wrong,) = floor.submit(kind="echo"), floor.submit(kind="permanent")
    floor.round()
    wait_for(lambda: floor.status(echo) is Status.COMPLETED, "the result is in the record")
    wait_for(lambda: floor.status(wrong) is Status.DEAD, "the permanent error is in the record")
    assert (floor.task(echo).result or {})["payload"] == {"n": 0}
    assert floor.task(wrong).dead_reason == "permanent"
    process.send_signal(signal.SIGTERM)
    assert process.wait(15) == 0
    assert state_of(process) == "stopped"


def test_drain_after_its_grace_gives_the_task_back_without_an_attempt(
    floor: Floor, work: Work
) -> None:
    process = work("--name", "w1", "--slots", "1", "--grace", "0.1")
    running, waiting = floor.submit(2, kind="stubborn")
    floor.round()
    wait_for(lambda: floor.status(running) is Status.RUNNING, "it runs")
    process.send_signal(signal.SIGTERM)
    assert process.wait(15) == 0
    for task in (running, waiting):
        assert floor.status(task) is Status.PENDING
        assert floor.task(task).attempts == 0
    assert floor.attempts(running) == [(Outcome.RELEASED, "w1")]
    assert state_of(process) == "stopped"


def test_crash_of_a_child_is_an_attempt_with_the_signals_name(floor: Floor, work: Work) -> None:
    floor.kind("dying", max_attempts=1)
    work("--name", "w1", "--slots", "1", "--processes")
    (task,) = floor.submit(kind="dying")
    floor.round()
    wait_for(lambda: floor.status(task) is Status.DEAD, "the crash is in the record")
    error = floor.task(task).error or {}
    assert error["type"] == "WorkerCrashed"
    assert "SIGABRT" in error["message"]


def test_worker_that_was_declared_lost_registers_anew_and_works_on(
    floor: Floor, work: Work
) -> None:
    process = work("--name", "w1", "--slots", "1")
    before = Worker.objects.get(pid=process.pid).id
    Worker.objects.filter(id=before).update(state="lost")
    wait_for(lambda: Worker.objects.filter(pid=process.pid).count() == 2, "a second boot", 20)
    (task,) = floor.submit(kind="echo")
    floor.round()
    wait_for(lambda: floor.status(task) is Status.COMPLETED, "the new boot works")


@pytest.mark.parametrize("option", ["--max-tasks-per-child", "--max-memory-per-child"])
def test_children_are_replaced_only_where_there_are_some(option: str) -> None:
    assert "needs --processes" in refused("--handlers", "x", f"{option}=5")
    assert "give a whole number" in refused("--handlers", "x", "--processes", f"{option}=0")


def test_default_names_of_two_workers_with_one_host_and_pid_differ() -> None:
    assert default_name() != default_name()
    assert len(default_name()) <= 100
