"""The worker process: its threads, its signals and its end."""

import logging
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Final

from tasks_app.core.dispatch.declarations import declaration_faults
from tasks_app.sdk.children import sentinel
from tasks_app.sdk.children.board import Board
from tasks_app.sdk.children.processes import ProcessSlots
from tasks_app.sdk.duty import Duty
from tasks_app.sdk.exit_codes import EXIT_REPLACED, EXIT_RESTART
from tasks_app.sdk.handlers import Handler, HandlerError, load_handlers
from tasks_app.sdk.heart import Heart
from tasks_app.sdk.in_flight import Execution, InFlight
from tasks_app.sdk.link import Failure, Link, Registration
from tasks_app.sdk.options import Options
from tasks_app.sdk.outcomes.failures import Failures
from tasks_app.sdk.outcomes.outcomes import Outcome
from tasks_app.sdk.reporter import Reporter
from tasks_app.sdk.session import Session
from tasks_app.sdk.slots import Slots
from tasks_app.sdk.stop_signals import StopSignals
from tasks_app.sdk.terminal import kept_from_terminal
from tasks_app.sdk.threads import ThreadSlots
from tasks_app.sdk.watch import Verdict, Watch

logger: Final = logging.getLogger(__name__)

JOIN_LIMIT: Final = 2.0
"""Seconds for a thread to notice that all is over."""


class _Done:
    """The session has left in good order."""


class _Wake:
    """Look at the clock again."""


Message = _Done | _Wake | signal.Signals | BaseException


class Worker:
    """Runs handlers for the tasks that ``link`` brings, until it is told to stop.

    ``clock`` is monotonic, in seconds. ``end_process`` ends it at once, as os._exit does. Raises
    HandlerError when the handlers cannot be loaded.
    """

    def __init__(
        self,
        link: Link,
        options: Options,
        *,
        clock: Callable[[], float] = time.monotonic,
        end_process: Callable[[int], object] = os._exit,
    ) -> None:
        self._link = link
        self._options = options
        self._end_process = end_process
        self._mailbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._signals = StopSignals(self._mailbox.put, end_process)
        handlers = load_handlers(options.modules)
        self._in_flight = InFlight(options.slots, clock, self._hurry)
        self._duty = Duty(self._in_flight, self._hurry)
        self._reporter = Reporter(link, self._in_flight.settle, self._duty.disown)
        self._failures = Failures(self._signals, self._reporter.put)
        watched = options.rescue_link is not None and not options.processes
        self._board = Board.made(options.slots) if watched and sys.platform == "linux" else None
        self._sentinel: subprocess.Popen[bytes] | None = None
        self._slots: Slots = (
            ProcessSlots(options, self._in_flight, self._ended)
            if options.processes
            else ThreadSlots(options, handlers, self._in_flight, self._ended, self._board)
        )
        self._watch = Watch(self._duty, self._slots, self._reporter, clock, options)
        self._heart = Heart(link, self._duty, clock, self._watch.halt)
        registration = _registration(options, handlers)
        self._session = Session(link, registration, handlers, self._duty, self._slots, clock)
        logger.info(
            "worker %s: %d %s for %s",
            options.name,
            options.slots,
            "processes" if options.processes else "slots",
            ", ".join(sorted(handlers)),
        )

    def run(self) -> int:
        """Work until SIGTERM, SIGINT or ``stop``; return the exit code."""
        with kept_from_terminal(), self._signals.heard():
            self._start_slots()
            if self._board is not None and self._options.rescue_link is not None:
                self._sentinel = sentinel.start(
                    self._board, self._options.slots, self._options.rescue_link
                )
            self._thread("heartbeat", self._heart.run)
            reporting = self._thread("reporter", self._reporter.run)
            self._thread("failures", self._failures.run)
            self._thread("session", self._leave_in_order)
            in_order = self._attend()
            return self._finish(reporting, in_order)

    def stop(self) -> None:
        """Drain: the same as SIGTERM, from any thread."""
        self._mailbox.put(signal.SIGTERM)

    def _start_slots(self) -> None:
        try:
            self._slots.start()
        except BaseException:
            self._slots.close()
            raise

    def _attend(self) -> bool:
        """Watch the clock and the mailbox; return whether the session left in good order."""
        while self._watch.look() is Verdict.GO_ON:
            self._tick()
            try:
                message = self._mailbox.get(timeout=self._watch.pause())
            except queue.Empty:
                continue
            match message:
                case _Done():
                    return True
                case signal.Signals():
                    self._drain(message)
                case BaseException():
                    self._slots.close()
                    raise message
                case _Wake():
                    pass
        return False

    def _tick(self) -> None:
        boot = self._duty.boot
        if self._board is not None and boot is not None:
            self._board.tick(boot.worker_id, boot.stop_at)

    def _drain(self, number: signal.Signals) -> None:
        logger.info(
            "%s: draining, %d tasks have up to %g s",
            number.name,
            self._in_flight.open,
            self._options.grace,
        )
        self._watch.leave(self._options.grace)

    def _finish(self, reporting: threading.Thread, in_order: bool) -> int:
        """End what runs beside; end the process where a handler still does."""
        self._reporter.stop()
        self._slots.close()
        if self._sentinel is not None:
            self._sentinel.kill()
            self._sentinel.wait()
        code = 0 if in_order and not self._watch.is_stuck else EXIT_RESTART
        if self._watch.is_replaced:
            code = EXIT_REPLACED
        left = len(self._in_flight.running())
        if left or not in_order:
            logger.warning("ending the process with %d handlers still running", left)
            self._quit(code)
        reporting.join(JOIN_LIMIT)
        self._link.close()
        logger.info("worker %s has left", self._options.name)
        return code

    def _quit(self, code: int) -> None:
        """End at once: neither a thread nor an exit hook may hold it up."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._end_process(code)

    def _leave_in_order(self) -> None:
        self._session.run()
        self._mailbox.put(_Done())

    def _thread(self, name: str, body: Callable[[], None]) -> threading.Thread:
        """Start a part; what it fails with ends the worker, for no part can do without another."""

        def guarded() -> None:
            try:
                body()
            except BaseException as error:  # noqa: BLE001  raised again by the main thread
                self._mailbox.put(error)

        thread = threading.Thread(target=guarded, name=name, daemon=True)
        thread.start()
        return thread

    def _ended(self, execution: Execution, outcome: Outcome) -> None:
        report = self._in_flight.end(execution, outcome)
        if isinstance(report, Failure):
            self._failures.put(execution.worker_id, report, outcome)
        elif report is not None:
            self._reporter.put(execution.worker_id, report)

    def _hurry(self) -> None:
        self._mailbox.put(_Wake())


def _registration(options: Options, handlers: Mapping[str, Handler]) -> Registration:
    declared = Registration(
        name=options.name,
        slots=options.slots,
        skills={kind: handler.skill for kind, handler in handlers.items()},
        host=socket.gethostname(),
        pid=os.getpid(),
        version=options.version,
    )
    if faults := list(declaration_faults(**asdict(declared))):
        raise HandlerError("; ".join(faults))
    return declared
