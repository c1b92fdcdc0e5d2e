"""A small process beside a worker with threads: it acts when one handler silences all of them.

A handler that holds the interpreter lock (a regular expression that explodes, a C extension) stops
its worker's heartbeat and every neighbour. From outside it can be told by the processor time of its
thread. At its time limit the sentinel freezes the worker, reports that one task as timed out, hands
the others back free of charge, and kills the worker.
"""

import importlib
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tasks_app.core.facts import ErrorFacts
from tasks_app.sdk.children.board import Board, Running
from tasks_app.sdk.link import Failure, Link, LinkDown

logger: Final = logging.getLogger(__name__)

LOOK: Final = 1.0
"""Seconds between two looks."""

SILENCE: Final = 3.0
"""Seconds without a word of a process that has one a second, before its threads are looked at."""

SHARE: Final = 0.8
"""Of a processor that a thread must have used between two looks to be the one that holds the lock;
those that wait for it use next to nothing."""

LATE: Final = 1.0
"""Seconds after a time limit in which the worker itself could still act."""

FREEZE_LIMIT: Final = 2.0
REPORT_LIMIT: Final = 30.0
"""Seconds for a process to stop, and for the control plane to take the reports."""

_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from tasks_app.sdk.children.sentinel import main; main(sys.argv[2:])"
)


def start(board: Board, slots: int, link: Callable[[], Link]) -> "subprocess.Popen[bytes]":
    """Start a sentinel for this process; ``link`` must be importable by name."""
    where = f"{link.__module__}:{link.__qualname__}"
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", _PROGRAM, json.dumps(sys.path),
         str(board.fd), str(slots), str(os.getpid()), where],
        pass_fds=[board.fd],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip


def main(arguments: list[str]) -> None:
    """Watch a worker until it ends; the entry point of the process."""
    fd, slots, worker, where = arguments
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    Sentinel(Board(int(fd), int(slots)), int(worker), where).run()


class Sentinel:
    """Looks at a worker's board and threads."""

    def __init__(self, board: Board, worker: int, where: str) -> None:
        self._board = board
        self._worker = worker
        self._where = where
        self._used: dict[int, float] = {}
        self._looked_at = 0.0

    def run(self) -> None:
        """Look once a second while the worker lives."""
        while os.getppid() == self._worker:
            culprit = self.culprit()
            if culprit is not None and self.freeze():
                self._settle(culprit)
                os.kill(self._worker, signal.SIGKILL)
                return
            time.sleep(LOOK)

    def culprit(self) -> Running | None:
        """The one whose thread holds the lock past its limit, or past the end of all leases."""
        head, now = self._board.head(), time.monotonic()
        if not head.ticked_at or now - head.ticked_at < SILENCE:
            self._used = {}
            return None
        used = self._processor_time()
        before, since = self._used, now - self._looked_at
        self._used, self._looked_at = used, now
        busy = [
            thread
            for thread, seconds in used.items()
            if thread in before and seconds - before[thread] >= SHARE * since
        ]
        mine = [running for running in self._board.running() if [running.thread] == busy]
        due = [r for r in mine if now >= min(r.deadline + LATE, head.stop_at)]
        return due[0] if due else None

    def _processor_time(self) -> dict[int, float]:
        """Seconds that each thread of the worker has used."""
        tick = os.sysconf("SC_CLK_TCK")
        used = {}
        for entry in Path(f"/proc/{self._worker}/task").glob("*/stat"):
            try:
                fields = entry.read_text().rpartition(")")[2].split()
            except OSError:
                continue  # the thread has ended since
            used[int(entry.parent.name)] = (int(fields[11]) + int(fields[12])) / tick
        return used

    def freeze(self) -> bool:
        """Stop the worker, so that nothing of it runs on; False where that cannot be done.

        Process 1 of a container cannot be stopped from within.
        """
        os.kill(self._worker, signal.SIGSTOP)
        until = time.monotonic() + FREEZE_LIMIT
        while time.monotonic() < until:
            state = Path(f"/proc/{self._worker}/stat").read_text().rpartition(")")[2].split()[0]
            if state == "T":
                return True
            time.sleep(0.01)
        return False

    def _settle(self, culprit: Running) -> None:
        """Report the culprit, and give everything else back."""
        worker_id = self._board.head().worker_id
        module, _, name = self._where.partition(":")
        link: Link = getattr(importlib.import_module(module), name)()
        failure = Failure(culprit.task_id, culprit.token, HELD_LOCK, timed_out=True)
        logger.error("task %s held the interpreter: its worker is ended", culprit.task_id)
        give_up = time.monotonic() + REPORT_LIMIT
        while time.monotonic() < give_up:
            try:
                link.fail(worker_id, [failure])
                link.deregister(worker_id)
            except LinkDown as error:
                logger.warning("the control plane cannot be reached: %s", error)
                time.sleep(LOOK)
            else:
                return


HELD_LOCK: Final = ErrorFacts(
    type="HandlerHeldInterpreter",
    message="the handler held the interpreter lock past its time limit, so no other handler of "
    "its worker could go on: the worker was ended. Run this kind with --processes.",
    bases=("TimeoutError",),
)
