"""Who is taken for the handler that silences its worker, and who is not."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tasks_app.sdk.children.board import Board
from tasks_app.sdk.children.sentinel import SHARE, Sentinel
from tests.waiting import wait_for

# Threads as a worker has them: which of them use a processor is the first argument.
PROGRAM = textwrap.dedent(
    """
    import hashlib, sys, threading, time
    def burn():
        while True:
            hashlib.pbkdf2_hmac("sha256", b"a", b"b", 200_000)
    busy = int(sys.argv[1])
    for number in range(3):
        threading.Thread(target=burn if number < busy else threading.Event().wait).start()
    print(*(thread.native_id for thread in threading.enumerate()[1:]), flush=True)
    """
)


class Stuck:
    """A process whose board says that it has been silent, and what its three threads run."""

    def __init__(self, busy: int, deadline: float, stop_at: float, silent: float) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(busy)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        threads = [int(number) for number in self.process.stdout.readline().split()]
        self.board = Board.made(3)
        self.tasks = [uuid4() for _ in threads]
        self.board.place(time.monotonic() - silent, stop_at, uuid4())
        for slot, (thread, task) in enumerate(zip(threads, self.tasks, strict=True)):
            self.board.put(slot, slot + 1, thread, deadline, task)
        self.sentinel = Sentinel(self.board, self.process.pid, "unused:unused")


@pytest.fixture
def stuck() -> Iterator[list[Stuck]]:
    made: list[Stuck] = []
    yield made
    for one in made:
        one.process.send_signal(signal.SIGCONT)
        one.process.kill()
        one.process.communicate()


def looks(one: Stuck, times: int = 6) -> set[object]:
    """Whom several looks in a row name."""
    found: set[object] = set()
    for _ in range(times):
        culprit = one.sentinel.culprit()
        found.add(None if culprit is None else culprit.task_id)
        time.sleep(0.2)  # a share of a processor is used over a time
    return found


def test_the_one_thread_that_uses_the_processor_past_its_limit_is_the_culprit(
    stuck: list[Stuck],
) -> None:
    now = time.monotonic()
    stuck.append(Stuck(busy=1, deadline=now - 5, stop_at=now + 60, silent=10))
    one = stuck[0]
    culprit = wait_for(one.sentinel.culprit, "the culprit to be known")
    assert culprit.task_id == one.tasks[0]


@pytest.mark.parametrize(
    ("busy", "late", "silent"),
    [(0, 5, 10), (1, -60, 10), (1, 5, 0)],
    ids=["none uses it", "within its limit", "the worker speaks"],
)
def test_nobody_is_accused_without_proof(
    stuck: list[Stuck], busy: int, late: float, silent: float
) -> None:
    now = time.monotonic()
    stuck.append(Stuck(busy=busy, deadline=now - late, stop_at=now + 60, silent=silent))
    assert looks(stuck[0]) == {None}


def test_a_worker_is_frozen_before_anything_is_reported(stuck: list[Stuck]) -> None:
    stuck.append(Stuck(busy=0, deadline=0.0, stop_at=0.0, silent=10))
    one = stuck[0]
    assert one.sentinel.freeze()
    state = Path(f"/proc/{one.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
    assert state == "T"


def test_the_share_is_more_than_half_so_that_only_one_thread_can_have_it() -> None:
    assert SHARE > 0.5
    assert os.sysconf("SC_CLK_TCK") > 0
