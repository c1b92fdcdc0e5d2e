"""One slot that is a child process: its thread, its child, and what becomes of both."""

import logging
import queue
import threading
from dataclasses import replace
from typing import Final
from uuid import UUID

from tasks_app.sdk.children.child import OUT_OF_MEMORY, Job
from tasks_app.sdk.children.child_handle import START_LIMIT, Child, ChildDied
from tasks_app.sdk.effect_pipe import answer_call
from tasks_app.sdk.handlers import HandlerError
from tasks_app.sdk.in_flight import NEVER, Execution, InFlight
from tasks_app.sdk.options import Options
from tasks_app.sdk.outcomes.errors import crashed, describe
from tasks_app.sdk.outcomes.outcomes import Crashed, Outcome, Raised, Stop, Stopped
from tasks_app.sdk.outcomes.symptoms import is_stop_code
from tasks_app.sdk.slots import Ended

logger: Final = logging.getLogger(__name__)

SPAWN_PAUSE: Final = 10.0
"""Seconds before a task goes back when no child can be started: a worker in such trouble looks
idle, and without the pause would draw the whole queue through itself."""

MIB: Final = 1024 * 1024

MOST_EXCUSED: Final = 10_000
"""Tasks remembered; the one handed back longest ago may be handed back again."""


class Excused:
    """The tasks that this worker handed back for want of memory; shared by its slots."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: dict[UUID, None] = {}

    def note(self, task_id: UUID) -> None:
        """Remember a task."""
        with self._lock:
            self._tasks[task_id] = None
            if len(self._tasks) > MOST_EXCUSED:
                del self._tasks[next(iter(self._tasks))]

    def __contains__(self, task_id: UUID) -> bool:
        with self._lock:
            return task_id in self._tasks


class ProcessSlot:
    """A thread and its child.

    ``_lock`` guards which execution the child has: a late kill must not hit the next one.
    """

    def __init__(
        self,
        number: int,
        jobs: "queue.SimpleQueue[Execution | None]",
        options: Options,
        in_flight: InFlight,
        ended: Ended,
        excused: Excused,
    ) -> None:
        self._name = f"slot-{number + 1}"
        self._jobs = jobs
        self._options = options
        # What the child is told: whether its handlers leave something behind them is the slot's.
        self._for_child = replace(options, after_task=options.after(number))
        self._in_flight = in_flight
        self._ended = ended
        self._excused = excused
        self._tasks_run = 0
        self._worn_out = ""
        self._lock = threading.Lock()
        self._current: Execution | None = None
        self._child: Child | None = None
        self._closing = threading.Event()
        self._started = threading.Event()
        self._fault = ""
        self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)

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
                    self._child.cancel(execution.grant.token)
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
            self._replace_if_worn_out()
        if self._child is not None:
            self._child.end()

    def _execute(self, execution: Execution) -> Outcome:
        with self._lock:
            self._current = execution
        try:
            if self._tasks_run and execution.grant.task_id in self._excused:
                self._renew_child()
            child = self._living_child()
            if child is None:
                return self._give_back(execution)
            if not self._in_flight.begin(execution):
                return Stopped()
            self._tasks_run += 1
            child.send(_job_of(execution))
            outcome = child.listen(
                execution.context.note,
                lambda call: answer_call(call, execution.record, execution.grant.token),
            )
        except (ChildDied, OSError) as error:
            code = error.exit_code if isinstance(error, ChildDied) else None
            return self._death_of(execution, code)
        except Exception as error:
            # Reported, for without this the slot would be gone and its task silent.
            logger.error("slot %s: unexpected error", self._name, exc_info=error)
            self._worn_out = "it cannot be spoken to"
            return Raised(describe(error))
        else:
            return self._judge(execution, outcome)
        finally:
            with self._lock:
                self._current = None

    def _judge(self, execution: Execution, outcome: Outcome) -> Outcome:
        """A child without memory is replaced, and what it could not do is not the task's fault."""
        if not isinstance(outcome, Raised) or not outcome.out_of_memory:
            return outcome
        self._worn_out = "it ran out of memory"
        return Stopped() if self._excuse(execution) else outcome

    def _excuse(self, execution: Execution) -> bool:
        """Hand a task back free of charge that met a child which others had worn out.

        Once in this worker: it gets a fresh child if it comes back, and what fails in a fresh child
        needs too much memory itself.
        """
        if self._tasks_run <= 1:
            return False
        self._excused.note(execution.grant.task_id)
        logger.warning(
            "task %s: its process had no memory left; it goes back without an attempt",
            execution.grant.task_id,
        )
        self._in_flight.mark_stopped(execution, Stop.UNABLE, NEVER)
        return True

    def _replace_if_worn_out(self) -> None:
        """Start a fresh child in place of one that has done enough or can do no more."""
        most_tasks = self._options.max_tasks_per_child
        most_memory = self._options.max_memory_per_child
        why = self._worn_out
        if not why and most_tasks is not None and self._tasks_run >= most_tasks:
            why = f"it has run {self._tasks_run} tasks"
        if not why and most_memory is not None and self._child is not None:
            held = self._child.memory / MIB
            why = f"it holds {held:.0f} MiB" if held > most_memory else ""
        if why:
            logger.info("%s: the child process is replaced: %s", self._name, why)
            self._renew_child()

    def _death_of(self, execution: Execution, code: int | None) -> Outcome:
        if execution.stop is not None:
            return Stopped()
        if code == OUT_OF_MEMORY and self._excuse(execution):
            return Stopped()
        error = crashed(code)
        logger.warning("task %s: %s", execution.grant.task_id, error.message)
        return Crashed(error, by_signal=is_stop_code(code))

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
        self._tasks_run, self._worn_out = 0, ""
        try:
            with self._lock:
                old, self._child = self._child, None
                if not self._closing.is_set():
                    child = Child(self._name, self._for_child)
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
