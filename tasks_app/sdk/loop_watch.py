"""Who holds the event loop: a handler that does not await keeps all others of the loop still."""

import asyncio
import logging
import sys
import threading
import time
from typing import Final

logger: Final = logging.getLogger(__name__)

LOOK_SECONDS: Final = 0.5
"""Between two questions to a loop that has tasks; one without any is not asked."""

HELD_SECONDS: Final = 1.0
"""Without an answer: then the log names who holds the loop."""

WAIT_SECONDS: Final = 0.2
"""Between two looks for the answer of a loop that is held."""


class LoopWatch:
    """Asks a loop for a sign of life while it has tasks, from a thread of its own."""

    def __init__(self, loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
        self._loop = loop
        self._thread = thread
        self._busy = threading.Event()
        self._ended = threading.Event()

    def start(self) -> None:
        """Begin; a daemon, for it must not hold up the end of the process."""
        threading.Thread(target=self._run, name="loop-watch", daemon=True).start()

    def busy(self, *, has_tasks: bool) -> None:
        """Say whether there is anything to watch."""
        if has_tasks:
            self._busy.set()
        else:
            self._busy.clear()

    def end(self) -> None:
        """Ask no more."""
        self._ended.set()
        self._busy.set()

    def _run(self) -> None:
        while not self._ended.is_set():
            self._busy.wait()
            if not self._ended.wait(LOOK_SECONDS):
                self._ask()

    def _ask(self) -> None:
        answered = threading.Event()
        try:
            self._loop.call_soon_threadsafe(answered.set)
        except RuntimeError:
            # Closed meanwhile: there is nothing left to watch.
            self._ended.set()
            return
        asked, told = time.monotonic(), False
        while not answered.wait(WAIT_SECONDS) and not self._ended.is_set():
            if not told and time.monotonic() >= asked + HELD_SECONDS:
                told = True
                self._tell()
        if told and answered.is_set():
            logger.warning("the event loop goes on after %.1f s", time.monotonic() - asked)

    def _tell(self) -> None:
        task = asyncio.current_task(self._loop)
        logger.warning(
            "%s holds the event loop, at %s: the async handlers of this process wait. A handler "
            "awaits what takes time, or hands it to asyncio.to_thread",
            "a callback" if task is None else task.get_name(),
            self._place(),
        )

    def _place(self) -> str:
        """Where the loop's thread is: the innermost line of Python."""
        frame = sys._current_frames().get(self._thread.ident or 0)
        if frame is None:
            return "an unknown place"
        code = frame.f_code
        return f"{code.co_filename}:{frame.f_lineno} in {code.co_name}"
