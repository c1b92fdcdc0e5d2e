"""Slots as threads, for handlers that wait more than they compute; async ones share one loop."""

import asyncio
import queue
import threading
from collections.abc import Callable, Mapping, Sequence

from tasks_app.sdk.handlers import Handler
from tasks_app.sdk.in_flight import Execution, InFlight
from tasks_app.sdk.invocation import invoke, invoke_async
from tasks_app.sdk.options import Options
from tasks_app.sdk.outcomes import Outcome, Stopped
from tasks_app.sdk.slots import Ended


class ThreadSlots:
    """Runs plain handlers in threads and async handlers on one event loop.

    A thread cannot be killed: an execution that ignores its cancellation keeps its slot.
    """

    def __init__(
        self,
        options: Options,
        handlers: Mapping[str, Handler],
        in_flight: InFlight,
        ended: Ended,
    ) -> None:
        self._before = options.before_task
        self._in_flight = in_flight
        self._ended = ended
        self._queue: queue.SimpleQueue[Execution | None] = queue.SimpleQueue()
        plain = any(not handler.is_async for handler in handlers.values())
        self._threads = options.slots if plain else 0
        self._lane = (
            AsyncLane(in_flight, ended, options.before_task)
            if any(handler.is_async for handler in handlers.values())
            else None
        )

    def start(self) -> None:
        """Start the threads; daemons, so that a zombie cannot hold the process's end up."""
        for number in range(self._threads):
            threading.Thread(target=self._work, name=f"slot-{number + 1}", daemon=True).start()
        if self._lane is not None:
            self._lane.start()

    def submit(self, executions: Sequence[Execution]) -> None:
        """Hand executions to the threads or to the loop."""
        for execution in executions:
            if execution.handler.is_async and self._lane is not None:
                self._lane.submit(execution)
            else:
                self._queue.put(execution)

    def interrupt(self, execution: Execution) -> None:
        """Cancel an async handler; a plain one can only look at its context."""
        execution.context.cancel()
        if execution.handler.is_async and self._lane is not None:
            self._lane.cancel(execution)

    def force(self, execution: Execution) -> None:
        """A thread cannot be ended by force: whoever must be rid of it ends the process."""

    def close(self) -> None:
        """Let idle threads and the loop end."""
        for _ in range(self._threads):
            self._queue.put(None)
        if self._lane is not None:
            self._lane.close()

    def _work(self) -> None:
        while (execution := self._queue.get()) is not None:
            outcome: Outcome = Stopped()
            if self._in_flight.begin(execution):
                outcome = invoke(
                    execution.handler, execution.grant.payload, execution.context, self._before
                )
            self._ended(execution, outcome)
            # A result may be large, and the next task may be an hour away.
            del execution, outcome


class AsyncLane:
    """One event loop in a thread of its own."""

    def __init__(
        self, in_flight: InFlight, ended: Ended, before: Callable[[], object] | None
    ) -> None:
        self._in_flight = in_flight
        self._ended = ended
        self._before = before
        self._loop: asyncio.AbstractEventLoop
        self._tasks: dict[int, asyncio.Task[Outcome]] = {}

    def start(self) -> None:
        """Start the loop's thread."""
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._run, name="async-handlers", daemon=True).start()

    def submit(self, execution: Execution) -> None:
        """Begin an execution on the loop."""
        self._loop.call_soon_threadsafe(self._begin, execution)

    def cancel(self, execution: Execution) -> None:
        """Cancel an execution on the loop, if it is still there."""
        self._loop.call_soon_threadsafe(self._cancel, execution.grant.token)

    def close(self) -> None:
        """End the loop after what it does now."""
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    def _begin(self, execution: Execution) -> None:
        task = self._loop.create_task(self._invoke(execution))
        self._tasks[execution.grant.token] = task
        task.add_done_callback(lambda done: self._finish(execution, done))

    async def _invoke(self, execution: Execution) -> Outcome:
        if not self._in_flight.begin(execution):
            return Stopped()
        return await invoke_async(
            execution.handler, execution.grant.payload, execution.context, self._before
        )

    def _finish(self, execution: Execution, done: asyncio.Task[Outcome]) -> None:
        del self._tasks[execution.grant.token]
        # Cancelled before its first step, the coroutine never ran at all.
        self._ended(execution, Stopped() if done.cancelled() else done.result())

    def _cancel(self, token: int) -> None:
        task = self._tasks.get(token)
        if task is not None:
            task.cancel()
