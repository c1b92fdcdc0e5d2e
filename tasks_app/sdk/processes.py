"""Slots as child processes, for hard time limits and for handlers that may crash.

One thread and one long-lived child a slot: the kernel's parent-death signal follows the thread that
started the child, so that thread lives as long as the slot.
"""

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Final

from tasks_app.sdk.child import Cancel, Job
from tasks_app.sdk.child_handle import START_LIMIT, Child, ChildDied
from tasks_app.sdk.effect_pipe import answer_call
from tasks_app.sdk.errors import crashed
from tasks_app.sdk.handlers import HandlerError
from tasks_app.sdk.in_flight import NEVER, Execution, InFlight
from tasks_app.sdk.options import Options
from tasks_app.sdk.outcomes import Crashed, Outcome, Stop, Stopped
from tasks_app.sdk.slots import Ended

logger: Final = logging.getLogger(__name__)

SPAWN_PAUSE: Final = 10.0
"""Seconds before a task goes back when no child can be started: a worker in such trouble looks
idle, and without the pause would draw the whole queue through itself."""


class ProcessSlots:
    """Runs each execution in a child; a killed or crashed child takes only its own one with it."""

    def __init__(self, options: Options, in_flight: InFlight, ended: Ended) -> None:
        self._queue: queue.SimpleQueue[Execution | None] = queue.SimpleQueue()

        def start_child(name: str) -> Child:
            return Child(name, options)

        self._slots = [
            _Slot(f"slot-{number + 1}", self._queue, start_child, in_flight, ended)
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


class _Slot:
    """A thread and its child.

    ``_lock`` guards which execution the child has: a late kill must not hit the next one.
    """

    def __init__(
        self,
        name: str,
        jobs: "queue.SimpleQueue[Execution | None]",
        start_child: Callable[[str], Child],
        in_flight: InFlight,
        ended: Ended,
    ) -> None:
        self._name = name
        self._jobs = jobs
        self._start_child = start_child
        self._in_flight = in_flight
        self._ended = ended
        self._lock = threading.Lock()
        self._current: Execution | None = None
        self._child: Child | None = None
        self._closing = threading.Event()
        self._started = threading.Event()
        self._fault = ""
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def start(self) -> None:
        """Begin to start the child."""
        self._thread.start()

    def wait_ready(self) -> None:
        """Return when the child can run handlers; raises HandlerError when it never will."""
        if not self._started.wait(START_LIMIT + 10.0):
            raise HandlerError("a child process could not be started")
        if self._fault:
            raise HandlerError(f"a child process cannot run handlers: {self._fault}")

    def cancel(self, execution: Execution) -> None:
        """Pass a cancellation on, if the child has this execution."""
        with self._lock:
            if self._current is execution and self._child is not None:
                try:
                    self._child.send(Cancel(execution.grant.token))
                except OSError:
                    logger.debug("the child of a cancelled task is gone already")

    def kill(self, execution: Execution) -> None:
        """Kill the child, if it has this execution."""
        with self._lock:
            if self._current is execution and self._child is not None:
                self._child.kill()

    def close(self) -> None:
        """End the child, whatever it does."""
        with self._lock:
            self._closing.set()
            if self._child is not None:
                self._child.kill()
        self._thread.join(timeout=2.0)

    def _work(self) -> None:
        self._renew_child()
        self._started.set()
        while (execution := self._jobs.get()) is not None:
            self._ended(execution, self._execute(execution))
            del execution
        if self._child is not None:
            self._child.end()

    def _execute(self, execution: Execution) -> Outcome:
        with self._lock:
            self._current = execution
        try:
            child = self._living_child()
            if child is None:
                return self._give_back(execution)
            if not self._in_flight.begin(execution):
                return Stopped()
            child.send(_job_of(execution))
            return child.listen(
                execution.context.note,
                lambda call: answer_call(call, execution.record, execution.grant.token),
            )
        except (ChildDied, OSError) as error:
            code = error.exit_code if isinstance(error, ChildDied) else None
            return self._death_of(execution, code)
        finally:
            with self._lock:
                self._current = None

    def _death_of(self, execution: Execution, code: int | None) -> Outcome:
        if execution.stop is not None:
            return Stopped()
        error = crashed(code)
        logger.warning("task %s: %s", execution.grant.task_id, error.message)
        return Crashed(error)

    def _give_back(self, execution: Execution) -> Outcome:
        self._closing.wait(SPAWN_PAUSE)
        self._in_flight.mark_stopped(execution, Stop.UNABLE, NEVER)
        return Stopped()

    def _living_child(self) -> Child | None:
        """The child, or a new one where it died meanwhile; None when none can be started."""
        if self._child is None or not self._child.is_alive:
            self._renew_child()
        return self._child

    def _renew_child(self) -> None:
        child: Child | None = None
        self._fault = ""
        try:
            with self._lock:
                old, self._child = self._child, None
                if not self._closing.is_set():
                    child = self._start_child(self._name)
                    self._child = child
            if old is not None:
                old.end()
            if child is not None:
                child.wait_ready()
        except Exception as error:  # noqa: BLE001  memory, processes, threads: said, and tried again
            with self._lock:
                self._child = None
            if child is not None:
                child.end()
            if not self._closing.is_set():
                self._fault = str(error)
                logger.error("a child process cannot run handlers: %s", self._fault)


def _job_of(execution: Execution) -> Job:
    grant = execution.grant
    return Job(
        task_id=grant.task_id,
        token=grant.token,
        kind=grant.kind,
        payload=grant.payload,
        attempt=grant.attempt,
        key=grant.key,
        deadline=execution.deadline,
        inputs=grant.inputs,
    )
