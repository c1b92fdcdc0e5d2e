"""Signals to a real worker process, and what is left of it afterwards."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tasks_app.sdk.stop_signals import ONE_PRESS
from tests.sdk.conftest import Start
from tests.sdk.plane import PATIENCE, Plane
from tests.waiting import wait_for

Spawn = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Start a worker process on one task and wait until it has claimed it."""
    started: list[subprocess.Popen[str]] = []

    def begin(kind: str, payload: str, **options: Any) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.sdk.alone", json.dumps(options), kind, payload],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def _pids_in(note: Path) -> list[str]:
    """The pids that the lingering handler wrote down: its own and its program's."""
    return wait_for(lambda: note.read_text().split() if note.exists() else [], "the handler runs")


def _is_gone(pid: str) -> bool:
    """Whether a process has ended; one that nobody has reaped yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_drains_and_exits_with_zero(spawn: Spawn, number: signal.Signals) -> None:
    process = spawn("sleeper", "0.5")
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out.split() == ["completed", "deregistered"]
    assert f"{number.name}: draining" in err


def test_second_sigint_quits_at_once(spawn: Spawn) -> None:
    process = spawn("sleeper", "60")
    errors = process.stderr
    assert errors is not None
    process.send_signal(signal.SIGINT)
    wait_for(lambda: "SIGINT: draining" in errors.readline(), "the drain begins")
    time.sleep(ONE_PRESS)  # what is waited for is a time
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "quitting at once" in err
    assert out == ""


def test_sigints_within_a_second_are_one_press(spawn: Spawn) -> None:
    process = spawn("sleeper", "1.5")
    errors = process.stderr
    assert errors is not None
    process.send_signal(signal.SIGINT)
    wait_for(lambda: "SIGINT: draining" in errors.readline(), "the drain begins")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out.split() == ["completed", "deregistered"]


def _programs_of(process: "subprocess.Popen[str]") -> list[int]:
    """Every process below a worker, its children's programs too."""
    return _programs_below(process.pid)


def _is_sleeping(pid: int) -> bool:
    return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep\0")


@pytest.mark.parametrize("worker_first", [True, False], ids=["worker-first", "program-first"])
@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["INT", "TERM", "HUP"]
)
@pytest.mark.parametrize("processes", [False, True], ids=["threads", "processes"])
@pytest.mark.parametrize("kind", ["runs_program", "waits_for_program", "async_program"])
def test_a_program_that_our_own_stop_signal_ends_costs_no_attempt(
    spawn: Spawn, kind: str, processes: bool, number: signal.Signals, worker_first: bool
) -> None:
    process = spawn(kind, "", processes=processes, slots=1)
    programs = wait_for(
        lambda: [pid for pid in _programs_of(process) if _is_sleeping(pid)], "the program runs"
    )
    tree = [process.pid, *_programs_of(process)]
    # A service manager signals the whole tree, in no particular order.
    assert set(programs) < set(tree)
    for pid in tree if worker_first else reversed(tree):
        os.kill(pid, number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert sorted(out.split()) == ["deregistered", "released"], err


@pytest.mark.parametrize("processes", [False, True], ids=["threads", "processes"])
def test_a_handler_that_fails_by_itself_while_draining_is_charged(
    spawn: Spawn, processes: bool
) -> None:
    process = spawn("fails_after", "1.5", processes=processes, slots=1)
    process.terminate()
    out, _ = process.communicate(timeout=PATIENCE)
    assert out.split() == ["failed", "deregistered"]


def test_a_program_that_somebody_else_stops_is_charged(plane: Plane, start: Start) -> None:
    start()
    grant = plane.assign("killed_program")
    plane.wait_until(lambda: plane.failed)
    assert plane.failed[grant.task_id].error.type == "subprocess.CalledProcessError"


def _on_terminal(options: str, tty: str) -> str:
    """Run a worker as a shell's background job on a terminal of its own."""
    root = Path(__file__).parents[2]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(root)
        line = [sys.executable, "-m", "tests.sdk.alone", options, "on_terminal", tty]
        # A job in the background: in a process group that is not the terminal's.
        if os.fork() == 0:
            os.setpgid(0, 0)
            os.execv(sys.executable, line)
        _, status = os.waitpid(-1, os.WUNTRACED)
        os.write(1, f"\nstatus {status}\n".encode())
        os._exit(0)
    said = ""
    try:
        while "completed" not in said and "status" not in said:
            assert select.select([terminal], [], [], PATIENCE)[0], f"nothing more comes: {said}"
            said += os.read(terminal, 4096).decode()
    finally:
        for below in _programs_below(pid):
            os.kill(below, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    return said


def _programs_below(pid: int) -> list[int]:
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    below = [int(child) for children in lists for child in children.read_text().split()]
    return below + [further for child in below for further in _programs_below(child)]


@pytest.mark.parametrize("tty", ["", "/dev/tty"], ids=["standard input", "/dev/tty"])
@pytest.mark.parametrize("processes", [False, True], ids=["threads", "processes"])
def test_a_program_that_touches_the_terminal_stops_nobody(processes: bool, tty: str) -> None:
    said = _on_terminal(json.dumps({"processes": processes, "slots": 1}), tty)
    assert "completed" in said, f"the worker was stopped: {said}"


def test_deaf_handler_cannot_hold_up_a_drained_process(spawn: Spawn) -> None:
    process = spawn("sleeper", "60", grace=0.1)
    process.terminate()
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out.split() == ["released", "deregistered"]
    assert "1 handlers still running" in err


def test_child_and_its_programs_end_with_the_grace(spawn: Spawn, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    process = spawn("lingering", str(note), processes=True, slots=1, grace=0.1)
    pids = _pids_in(note)
    process.terminate()
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out.split() == ["released", "deregistered"]
    wait_for(lambda: all(_is_gone(pid) for pid in pids), "child and program are gone")


def test_children_ignore_a_signal_to_the_whole_group(spawn: Spawn) -> None:
    process = spawn("sleeper", "0.5", processes=True, slots=1)
    lists = Path(f"/proc/{process.pid}/task").glob("*/children")
    children = [int(pid) for children in lists for pid in children.read_text().split()]
    assert len(children) >= 1
    for pid in [*children, process.pid]:
        os.kill(pid, signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out.split() == ["completed", "deregistered"]


def test_children_die_with_a_killed_worker(spawn: Spawn, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    process = spawn("lingering", str(note), processes=True, slots=1)
    child, program = _pids_in(note)
    process.kill()
    process.wait(PATIENCE)
    wait_for(lambda: _is_gone(child), "the child is gone")
    os.kill(int(program), signal.SIGKILL)
