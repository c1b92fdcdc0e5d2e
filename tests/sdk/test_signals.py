"""Signals to a real worker process, and what is left of it afterwards."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sdk.plane import PATIENCE
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
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "quitting at once" in err
    assert out == ""


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
