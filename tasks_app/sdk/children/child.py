"""The child process of one slot: it runs one handler at a time and talks over a pipe.

To the child: a ``Job`` begins an execution, ``Cancel`` asks it to end, and each ``EffectCall`` gets
an ``EffectAnswer``. From it: ``READY``, or ``Broken`` when handlers cannot be loaded; then for each
job any number of ``(fraction, note)`` and ``EffectCall``, and at last its outcome.
"""

import ctypes
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, Final
from uuid import UUID

from tasks_app.sdk.context import Context, Said
from tasks_app.sdk.effect_pipe import EffectAnswer, EffectChannel, PipeRecord
from tasks_app.sdk.handlers import Handler, HandlerError, handler_of, load_handlers
from tasks_app.sdk.invocation import invoke, invoke_async
from tasks_app.sdk.loop_thread import LoopThread
from tasks_app.sdk.options import Options
from tasks_app.sdk.outcomes.errors import describe
from tasks_app.sdk.outcomes.outcomes import Outcome, Stopped
from tasks_app.sdk.task_log import LogLine
from tasks_app.sdk.terminal import read_nothing

READY: Final = "ready"

PROGRESS_EVERY: Final = 0.1
"""Seconds between two words of progress; a handler may say it in its innermost loop."""

OUT_OF_MEMORY: Final = 71
"""EX_OSERR of sysexits.h: the child could not even say how its task ended, for want of memory."""

DEAF: Final = 70
"""EX_SOFTWARE of sysexits.h: the child can no longer be spoken to."""

_PR_SET_PDEATHSIG: Final = 1


@dataclass(frozen=True, slots=True)
class Broken:
    """The child cannot run handlers, in one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """The execution of ``token`` is to end."""

    token: int


@dataclass(frozen=True, slots=True)
class Job:
    """One execution on its way to the child; ``deadline`` on the machine's monotonic clock."""

    task_id: UUID
    token: int
    kind: str
    payload: Any
    attempt: int
    key: str
    deadline: float
    inputs: Mapping[str, Any] = field(default_factory=dict)


def run_child(pipe: Connection, parent: int, options: Options) -> None:
    """Be a slot's child until the pipe closes; the entry point of the process."""
    _stand_apart()
    _die_with(parent)
    try:
        if options.child_setup is not None:
            options.child_setup()
        handlers = load_handlers(options.modules)
    except HandlerError as error:
        pipe.send(Broken(str(error)))
        return
    except Exception as error:  # noqa: BLE001  the worker says it, with the trace, and ends
        facts = describe(error)
        pipe.send(Broken(f"{facts.type}: {facts.message}\n{facts.traceback}"))
        return
    pipe.send(READY)
    _Child(pipe, handlers, options.before_task, options.after_task).run()


class _Child:
    """The main thread runs handlers; another one reads the pipe, so that a cancel is heard."""

    def __init__(
        self,
        pipe: Connection,
        handlers: Mapping[str, Handler],
        before: Callable[[], object] | None,
        after: Callable[[], object] | None = None,
    ) -> None:
        self._pipe = pipe
        self._handlers = handlers
        self._before = before
        self._after = after
        self._loop: LoopThread | None = None
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._sending = threading.Lock()
        self._effects = EffectChannel(self._send)
        self._cancel: Callable[[int], None] | None = None
        self._cancelled = 0
        self._said: Sequence[LogLine] = ()
        self._tell_at = 0.0

    def run(self) -> None:
        """Run job after job; the reader ends the process when the worker is gone."""
        threading.Thread(target=self._read, name="pipe", daemon=True).start()
        try:
            while True:
                self._serve(self._jobs.get())
        except MemoryError:
            os._exit(OUT_OF_MEMORY)

    def _serve(self, job: Job) -> None:
        outcome = self._execute(job)
        # From here on a cancel finds nothing to end: a large outcome may take its time to be read.
        self._cancel = None
        if self._said:
            self._send(Said(self._said))
        self._send(outcome)
        self._said = ()

    def _read(self) -> None:
        """Hear the worker out; a child that hears no more must not go on as if it did."""
        try:
            while True:
                self._hear(self._pipe.recv())
        except (EOFError, OSError):
            # The worker is gone and so is its lease: nothing that runs here counts any more.
            os._exit(0)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        except BaseException:  # noqa: BLE001  printed; the worker replaces a child that has ended
            traceback.print_exc()
            os._exit(DEAF)

    def _hear(self, message: object) -> None:
        if isinstance(message, Job):
            self._jobs.put(message)
        elif isinstance(message, EffectAnswer):
            self._effects.deliver(message)
        elif isinstance(message, Cancel):
            self._cancelled = message.token
            if (cancel := self._cancel) is not None:
                cancel(message.token)

    def _on_lines(self, lines: Sequence[LogLine]) -> None:
        """Pass on what is logged, but not more often than every ``PROGRESS_EVERY``."""
        self._said = lines
        now = time.monotonic()
        if now >= self._tell_at:
            self._tell_at = now + PROGRESS_EVERY
            self._send(Said(lines))

    def _on_cancel(self, token: int, cancel: Callable[[], None]) -> None:
        """Have ``cancel`` called when the word comes, also if it was quicker than the handler.

        A word about another token is about a task that has ended here already.
        """

        def if_meant(meant: int) -> None:
            if meant == token:
                cancel()

        self._cancel = if_meant
        if_meant(self._cancelled)

    def _send(self, message: object) -> None:
        with self._sending:
            self._pipe.send(message)

    def _execute(self, job: Job) -> Outcome:
        context = Context(
            job.task_id,
            kind=job.kind,
            attempt=job.attempt,
            key=job.key,
            inputs=job.inputs,
            token=job.token,
            on_progress=_Throttled(self._send),
            record=PipeRecord(self._effects, job.token),
        )
        context.deadline = job.deadline
        context.lines.listen(self._on_lines)
        handler = handler_of(self._handlers, job.kind)
        if handler.is_async:
            return self._execute_async(handler, job.payload, context)
        self._on_cancel(job.token, context.cancel)
        return invoke(handler, job.payload, context, self._before, self._after)

    def _execute_async(self, handler: Handler, payload: Any, context: Context) -> Outcome:
        """Run it on this child's one loop, which lives from its first async task on."""
        if self._cancelled == context.token:
            # The cancel was quicker than the job, and could meet an execution that has just ended.
            return Stopped()
        if self._loop is None:
            self._loop = LoopThread()
            self._loop.start()
        loop, token = self._loop, context.token
        ended: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        loop.submit(
            token,
            f"{handler.kind} (task {context.task_id})",
            partial(invoke_async, handler, payload, context, self._before),
            ended.put,
        )

        def cancel() -> None:
            context.cancel()
            loop.cancel(token)

        self._on_cancel(token, cancel)
        return ended.get()


class _Throttled:
    """Passes progress on, but not more often than every ``PROGRESS_EVERY``; the end always."""

    def __init__(self, send: Callable[[object], None]) -> None:
        self._send = send
        self._next_at = 0.0

    def __call__(self, fraction: float, note: str) -> None:
        now = time.monotonic()
        if now >= self._next_at or fraction >= 1.0:
            self._next_at = now + PROGRESS_EVERY
            self._send((fraction, note))


def _stand_apart() -> None:
    """Take a session and group of its own, no stop signals, and nothing to read.

    A kill of the group takes along what a handler started. Without a controlling terminal no
    program of a handler is stopped for touching it, through standard input or /dev/tty. Ctrl-C and
    a service manager signal every process: the worker alone decides what they mean. A function
    that does nothing and not SIG_IGN, which programs started by a handler would inherit.
    """
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _nothing)
    read_nothing()


def _nothing(_number: int, _frame: FrameType | None) -> None:
    pass


def _die_with(parent: int) -> None:
    """Have the kernel end this process with its worker, even while a handler holds the GIL."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # It may have died before the line above: then no signal will come.
    if os.getppid() != parent:
        os._exit(0)
