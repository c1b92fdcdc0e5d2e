"""Slots as threads, for handlers that wait more than they compute; async ones share one loop."""

import queue
import threading
from collections.abc import Mapping, Sequence
from functools import partial

from tasks_app.sdk.children.board import Board
from tasks_app.sdk.handlers import Handler
from tasks_app.sdk.in_flight import Execution, InFlight
from tasks_app.sdk.invocation import invoke, invoke_async
from tasks_app.sdk.loop_thread import LoopThread
from tasks_app.sdk.options import Options
from tasks_app.sdk.outcomes.outcomes import Outcome, Stopped
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
        board: Board | None = None,
    ) -> None:
        self._options = options
        self._board = board
        self._in_flight = in_flight
        self._ended = ended
        self._queue: queue.SimpleQueue[Execution | None] = queue.SimpleQueue()
        plain = any(not handler.is_async for handler in handlers.values())
        self._threads = options.slots if plain else 0
        self._loop = (
            LoopThread() if any(handler.is_async for handler in handlers.values()) else None
        )

    def start(self) -> None:
        """Start the threads; daemons, so that a zombie cannot hold the process's end up."""
        for number in range(self._threads):
            threading.Thread(
                target=self._work, args=(number,), name=f"slot-{number + 1}", daemon=True
            ).start()
        if self._loop is not None:
            self._loop.start()

    def submit(self, executions: Sequence[Execution]) -> None:
        """Hand executions to the threads or to the loop."""
        for execution in executions:
            if execution.handler.is_async and self._loop is not None:
                grant = execution.grant
                self._loop.submit(
                    grant.token,
                    f"{grant.kind} (task {grant.task_id})",
                    partial(self._invoke_async, execution),
                    partial(self._ended, execution),
                )
            else:
                self._queue.put(execution)

    def interrupt(self, execution: Execution) -> None:
        """Cancel an async handler; a plain one can only look at its context."""
        execution.context.cancel()
        if execution.handler.is_async and self._loop is not None:
            self._loop.cancel(execution.grant.token)

    def force(self, execution: Execution) -> None:
        """A thread cannot be ended by force: whoever must be rid of it ends the process."""

    def close(self) -> None:
        """Let idle threads and the loop end."""
        for _ in range(self._threads):
            self._queue.put(None)
        if self._loop is not None:
            self._loop.close()

    def _work(self, number: int) -> None:
        before, after = self._options.before_task, self._options.after(number)
        while (execution := self._queue.get()) is not None:
            outcome: Outcome = Stopped()
            if self._in_flight.begin(execution):
                if self._board is not None:
                    self._board.begin(number, execution)
                outcome = invoke(
                    execution.handler, execution.grant.payload, execution.context, before, after
                )
                if self._board is not None:
                    self._board.end(number)
            self._ended(execution, outcome)
            # A result may be large, and the next task may be an hour away.
            del execution, outcome

    async def _invoke_async(self, execution: Execution) -> Outcome:
        if not self._in_flight.begin(execution):
            return Stopped()
        return await invoke_async(
            execution.handler,
            execution.grant.payload,
            execution.context,
            self._options.before_task,
        )
