"""A keeper starts what ended, ends what it is told to, and takes its child along."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from controlplane.environment import ROOT
from tests.waiting import wait_for

# Each notes its process id, then lives on; the second one does not end when asked politely.
PLAIN = "sh -c 'echo $$ >> notes; exec sleep 600'"
STUBBORN = "sh -c 'trap : TERM; echo $$ >> notes; while :; do sleep 600 & wait; done'"
SHORT_LIVED = "sh -c 'echo $$ >> notes'"


class Kept:
    """A running keeper and the process ids that its children noted."""

    def __init__(self, folder: Path, line: str) -> None:
        (folder / "Procfile").write_text(f"line: {line}\n")
        self._notes = folder / "notes"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "controlplane.keeper", "Procfile", "line"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )

    def child(self, number: int) -> psutil.Process:
        def noted() -> list[str] | None:
            lines = self._notes.read_text().splitlines() if self._notes.exists() else []
            return lines if len(lines) >= number else None

        return psutil.Process(int(wait_for(noted, f"start {number}")[number - 1]))


Start = Callable[[str], Kept]


@pytest.fixture
def keep(tmp_path: Path) -> Iterator[Start]:
    started: list[Kept] = []

    def start(line: str) -> Kept:
        started.append(Kept(tmp_path, line))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.communicate()


def ended(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    return True


def test_a_killed_child_is_started_again_and_it_is_said_why(keep: Start) -> None:
    kept = keep(PLAIN)
    first = kept.child(1)
    first.send_signal(signal.SIGKILL)
    second = kept.child(2)
    assert second.is_running()
    kept.process.terminate()
    said, _ = kept.process.communicate(timeout=10)
    assert said == "keeper: it was ended by SIGKILL; starting it again in 0.5 s\n"


def test_the_delay_grows_while_a_child_keeps_failing(keep: Start) -> None:
    kept = keep(SHORT_LIVED)
    assert kept.process.stdout is not None
    delays = [float(kept.process.stdout.readline().split()[-2]) for _ in range(3)]
    assert delays == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("line", [PLAIN, STUBBORN])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end_it_ends_its_child_within_five_seconds(
    keep: Start, line: str, number: signal.Signals
) -> None:
    kept = keep(line)
    child = kept.child(1)
    family = [child, *child.children(recursive=True)]
    asked = time.monotonic()
    kept.process.send_signal(number)
    assert kept.process.wait(10) == 0
    assert time.monotonic() - asked < 5.0, "the runner above kills after five seconds"
    assert all(ended(each) for each in family)


def test_told_to_end_while_it_waits_to_start_again_it_ends_at_once(keep: Start) -> None:
    kept = keep(SHORT_LIVED)
    assert kept.process.stdout is not None
    kept.process.stdout.readline()
    kept.process.terminate()
    assert kept.process.wait(10) == 0


def test_a_killed_keeper_takes_its_child_along(keep: Start) -> None:
    kept = keep(PLAIN)
    child = kept.child(1)
    kept.process.kill()
    wait_for(lambda: ended(child), "the child's end")


def test_a_faulty_child_is_replaced(tmp_path: Path) -> None:
    """In a process of its own, because a keeper waits for its process's signals."""
    code = (
        "from controlplane.keeper import Keeper\n"
        "faults = iter([None, 'it is silent'])\n"
        "line = ['sh', '-c', 'echo $$ >> notes; exec sleep 600']\n"
        "Keeper(line, lambda _: next(faults, None)).run()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("keeper: it is silent; starting it again")
    notes = tmp_path / "notes"
    first, second = wait_for(
        lambda: pair if len(pair := notes.read_text().split()) == 2 else None, "a second start"
    )
    assert not psutil.pid_exists(int(first))
    assert psutil.pid_exists(int(second))
    process.terminate()
    assert process.wait(10) == 0
    process.communicate()


def test_a_worker_that_was_replaced_is_not_started_into_the_same_fight(keep: Start) -> None:
    kept = keep("sh -c 'echo $$ >> notes; exit 78'")
    assert kept.process.stdout is not None
    assert "replaced by a newer process" in kept.process.stdout.readline()
    assert kept.process.poll() is None, "its runner ends every line when one ends"
    kept.process.terminate()
    said, _ = kept.process.communicate(timeout=10)
    assert (said, kept.process.returncode) == ("", 0)
