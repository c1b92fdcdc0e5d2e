"""Signals that stop a worker: how many presses they are, and which failures they caused.

A terminal sends Ctrl-C to every process of the job, and a service manager may send SIGTERM to a
whole tree. The programs that handlers run hear it too and end, so their handlers fail: by our own
stop, and not by any fault of the task.
"""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

from tasks_app.sdk.exit_codes import EXIT_INTERRUPTED
from tasks_app.sdk.outcomes.outcomes import Crashed, Outcome, Raised

ONE_PRESS: Final = 1.0
"""Seconds within which several SIGINTs are one press of Ctrl-C: a terminal sends one, and a wrapper
such as make or npm forwards another."""

ECHO: Final = 1.0
"""Seconds after a stop signal within which any failure is put down to it: a program that the
signal ends is gone at once, and its handler may raise anything about that."""

KEPT_BACK: Final = 0.3
"""Seconds for which a failure is kept back: a program may hear the signal before this process
does. It costs nothing, for a task that failed waits longer than that for its next attempt."""


class StopSignals:
    """Hears the signals of this process; other methods may be called by any thread."""

    def __init__(
        self,
        tell: Callable[[signal.Signals], object],
        end_process: Callable[[int], object],
    ) -> None:
        self._tell = tell
        self._end_process = end_process
        self._heard_at: float | None = None
        self._pressed_at: float | None = None
        self._heard = threading.Event()

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Take the stop signals over; only a main thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = [signal.SIGTERM, signal.SIGINT]
        # nohup has it ignored, and means it; else a terminal that closes is a stop like any other.
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        # A handler in Python runs when the main thread next wakes up, which may be a second later:
        # the system may interrupt any thread. The byte is written by whichever it interrupts.
        inlet, outlet = socket.socketpair()
        outlet.setblocking(False)
        threading.Thread(target=self._listen, args=(inlet, numbers), daemon=True).start()
        before = [signal.signal(number, _nothing) for number in numbers]
        fd_before = signal.set_wakeup_fd(outlet.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(fd_before)
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)
            outlet.close()

    def _listen(self, inlet: socket.socket, numbers: Sequence[signal.Signals]) -> None:
        """Hear signals until ``heard`` is over; the body of the thread."""
        with inlet:
            while heard := inlet.recv(64):
                for number in heard:
                    if number in numbers:
                        self._on_signal(signal.Signals(number))

    def _on_signal(self, number: signal.Signals) -> None:
        now = time.monotonic()
        if self._heard_at is None:
            self._heard_at = now
        if number is signal.SIGINT:
            if self._pressed_at is None:
                self._pressed_at = now
            elif now - self._pressed_at < ONE_PRESS:
                return
            else:
                os.write(2, b"interrupted twice: quitting at once\n")
                self._end_process(EXIT_INTERRUPTED)
        self._heard.set()
        self._tell(number)

    def wait(self, seconds: float) -> None:
        """Wait for a stop signal, some seconds at most."""
        self._heard.wait(max(0.0, seconds))

    def caused(self, outcome: Outcome) -> bool:
        """Whether a failure is put down to a stop signal that this process heard."""
        if self._heard_at is None:
            return False
        match outcome:
            case Crashed():
                return outcome.by_signal
            case Raised():
                soon = time.monotonic() - self._heard_at < ECHO
                return soon or outcome.lost_program
            case _:
                return False


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """A signal's handler in Python; what it means is heard elsewhere."""
