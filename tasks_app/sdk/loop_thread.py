"""One event loop for the life of a process, in a thread of its own: async handlers run on it.

Both kinds of slots use it, so that an async handler meets the same loop in a worker's process and
in a child: what a module keeps from one task to the next (a connection, a lock, a client session, a
task in the background) stays usable.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final

from tasks_app.sdk.loop_watch import LoopWatch
from tasks_app.sdk.outcomes.outcomes import Outcome, Stopped

logger: Final = logging.getLogger(__name__)

CLEAR_UP: Final = 1.0
"""Seconds for background tasks to end once the loop is closed."""

Invocation = Callable[[], Coroutine[Any, Any, Outcome]]


class LoopThread:
    """Runs the executions of async handlers side by side; methods may be called by any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop
        self._watch: LoopWatch
        self._tasks: dict[int, asyncio.Task[Outcome]] = {}
        self._closing = False

    def start(self) -> None:
        """Start the loop, by the policy that the handlers' modules may have set."""
        self._loop = asyncio.new_event_loop()
        thread = threading.Thread(target=self._run, name="async-handlers", daemon=True)
        self._watch = LoopWatch(self._loop, thread)
        thread.start()
        self._watch.start()

    def submit(
        self, token: int, label: str, invoke: Invocation, ended: Callable[[Outcome], object]
    ) -> None:
        """Begin an execution; ``ended`` is called on the loop, once, with its outcome.

        ``label`` is what the log calls it where it holds the loop.
        """
        self._loop.call_soon_threadsafe(self._begin, token, label, invoke, ended)

    def cancel(self, token: int) -> None:
        """Cancel an execution; nothing happens where it has ended already."""
        self._loop.call_soon_threadsafe(self._cancel, token)

    def close(self) -> None:
        """End the loop after its current callbacks."""
        self._closing = True
        self._watch.end()
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not self._closing:
            # A handler may stop the loop, and a task that a handler left in the background may
            # raise SystemExit, which asyncio passes on: neither may end the loop of all the others.
            try:
                self._loop.run_forever()
            except (SystemExit, KeyboardInterrupt) as error:
                logger.error("a background task of a handler raised %r; the loop goes on", error)
        self._end_background()
        self._loop.close()

    def _end_background(self) -> None:
        """Cancel what handlers left behind, so that it can clear up after itself."""
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.wait(left, timeout=CLEAR_UP))

    def _begin(
        self, token: int, label: str, invoke: Invocation, ended: Callable[[Outcome], object]
    ) -> None:
        task = self._loop.create_task(invoke(), name=label)
        self._tasks[token] = task
        self._watch.busy(has_tasks=True)
        task.add_done_callback(lambda done: self._finish(token, done, ended))

    def _finish(
        self, token: int, done: asyncio.Task[Outcome], ended: Callable[[Outcome], object]
    ) -> None:
        del self._tasks[token]
        self._watch.busy(has_tasks=bool(self._tasks))
        # Cancelled before its first step, the coroutine never ran at all.
        ended(Stopped() if done.cancelled() else done.result())

    def _cancel(self, token: int) -> None:
        task = self._tasks.get(token)
        if task is not None:
            task.cancel()
