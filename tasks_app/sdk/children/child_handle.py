"""A child process as its slot sees it: started, spoken to, heard, killed."""

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tasks_app.sdk.children.child import READY, Broken, Cancel, Job, run_child
from tasks_app.sdk.context import Said
from tasks_app.sdk.effect_pipe import EffectAnswer, EffectCall
from tasks_app.sdk.handlers import HandlerError
from tasks_app.sdk.options import Options
from tasks_app.sdk.outcomes.outcomes import Done, Outcome, Raised, Stopped

logger: Final = logging.getLogger(__name__)

START_LIMIT: Final = 120.0
"""Seconds for a child to import its handlers; a model may have to be loaded from a slow disk."""

CANCEL_LIMIT: Final = 0.5
"""Seconds to wait for a child that is being spoken to already."""

REAP_LIMIT: Final = 5.0
"""Seconds within which the kernel ends a process that was sent SIGKILL."""

# Spawned, not forked: this process has threads, and a lock that one of them holds would stay locked
# in a forked child for ever.
_spawning: Final = multiprocessing.get_context("spawn")


class ChildDied(Exception):
    """The child ended; ``exit_code`` as the operating system tells it, negative for a signal."""

    def __init__(self, exit_code: int | None) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


class Child:
    """One living child process, in a process group of its own. Methods may be called by any thread;
    ``listen`` by one at a time.
    """

    def __init__(self, name: str, options: Options) -> None:
        self._pipe, theirs = _spawning.Pipe()
        self._sending = threading.Lock()
        self._ended = False
        self._process = _spawning.Process(
            target=run_child, args=(theirs, os.getpid(), options), name=name
        )
        self._process.start()
        # With our copy of its end closed, the end of the child is the end of the pipe.
        theirs.close()

    def wait_ready(self) -> None:
        """Return when it can run handlers; raises HandlerError when it never will."""
        try:
            if not self._pipe.poll(START_LIMIT):
                raise HandlerError(f"it was not ready within {START_LIMIT:g} s")
            message = self._pipe.recv()
        except (EOFError, OSError):
            raise HandlerError("it ended while it loaded them") from None
        if isinstance(message, Broken):
            raise HandlerError(message.reason)
        assert message == READY

    def send(self, message: Job | EffectAnswer) -> None:
        """Say something to it; raises OSError when it is gone."""
        with self._sending:
            self._pipe.send(message)

    def cancel(self, token: int) -> None:
        """Tell it that an execution is to end; raises OSError when it is gone.

        Not for ever: a child that does not read holds up whoever answers it, and must not hold up
        the thread that will kill it for that.
        """
        if self._sending.acquire(timeout=CANCEL_LIMIT):
            try:
                self._pipe.send(Cancel(token))
            finally:
                self._sending.release()

    def listen(
        self,
        on_word: Callable[[Said | tuple[float, str]], None],
        answer: Callable[[EffectCall], EffectAnswer],
    ) -> Outcome:
        """Hear it out and answer it until the outcome of its job; raises ChildDied."""
        while True:
            try:
                # A program that the handler started may hold the pipe open after the child's end.
                while not self._pipe.poll(1.0):
                    if not self.is_alive:
                        raise EOFError
                message = self._pipe.recv()
                if isinstance(message, EffectCall):
                    self.send(answer(message))
                    continue
            except (EOFError, OSError):
                raise ChildDied(self.end()) from None
            if isinstance(message, Done | Raised | Stopped):
                return message
            on_word(message)

    @property
    def memory(self) -> int:
        """Bytes that it holds in memory now; 0 where the system does not tell, or it is gone."""
        try:
            pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.is_alive()

    def kill(self) -> None:
        """Kill it and what it started; not once it was reaped, for its number may be reused."""
        if self._ended:
            return
        pid = self._process.pid
        assert pid is not None
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            # So young that it has no group of its own yet, or gone with all that was in it.
            self._process.kill()

    def end(self) -> int | None:
        """Kill and reap it; return its exit code."""
        self.kill()
        self._ended = True
        until = time.monotonic() + REAP_LIMIT
        # Another thread that starts a child reaps this one too and may be about to note the code.
        while self._process.exitcode is None and time.monotonic() < until:
            self._process.join(timeout=0.05)
        code = self._process.exitcode
        self._pipe.close()
        return code
