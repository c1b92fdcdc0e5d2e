"""Slots as child processes, for hard time limits and for handlers that may crash.

One thread and one long-lived child a slot: the kernel's parent-death signal follows the thread that
started the child, so that thread lives as long as the slot.
"""

import queue
from collections.abc import Sequence

from tasks_app.sdk.children.process_slot import Excused, ProcessSlot
from tasks_app.sdk.in_flight import Execution, InFlight
from tasks_app.sdk.options import Options
from tasks_app.sdk.slots import Ended


class ProcessSlots:
    """Runs each execution in a child; a killed or crashed child takes only its own one with it."""

    def __init__(self, options: Options, in_flight: InFlight, ended: Ended) -> None:
        self._queue: queue.SimpleQueue[Execution | None] = queue.SimpleQueue()
        excused = Excused()
        self._slots = [
            ProcessSlot(number, self._queue, options, in_flight, ended, excused)
            for number in range(options.slots)
        ]

    def start(self) -> None:
        """Start all children side by side and wait until every one can run handlers."""
        for slot in self._slots:
            slot.start()
        for slot in self._slots:
            slot.wait_ready()

    def submit(self, executions: Sequence[Execution]) -> None:
        """Hand executions to the slots that are free."""
        for execution in executions:
            self._queue.put(execution)

    def interrupt(self, execution: Execution) -> None:
        """Tell the child; its handler sees ``ctx.cancelled``, an async one is cancelled."""
        execution.context.cancel()
        for slot in self._slots:
            slot.cancel(execution)

    def force(self, execution: Execution) -> None:
        """Kill the child that runs it."""
        for slot in self._slots:
            slot.kill(execution)

    def close(self) -> None:
        """End all children, busy or not."""
        for _ in self._slots:
            self._queue.put(None)
        for slot in self._slots:
            slot.close()
