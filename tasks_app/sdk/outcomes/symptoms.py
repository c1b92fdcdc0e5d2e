"""What an exception says about the process it came from, and not about its task."""

import errno
import signal
from collections.abc import Iterator
from typing import Final

_LONGEST_CHAIN: Final = 20
"""Causes that are followed; a handler may have linked them in a circle."""

_STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_STOP_CODES: Final = frozenset(
    [-number for number in _STOP_SIGNALS] + [128 + number for number in _STOP_SIGNALS]
)
"""Return codes of a program that a stop signal ended, as Python and as a shell tell them."""

_BROKEN_TALK: Final = (
    ConnectionError,
    EOFError,
    ChildProcessError,
    InterruptedError,
    KeyboardInterrupt,
)
"""What talking to a program raises when that program has gone; BrokenPipeError is among them."""


def ran_out_of_memory(error: BaseException) -> bool:
    """Whether the process had no memory left: its next task would fail in the same way."""
    return any(
        isinstance(link, MemoryError)
        or (isinstance(link, OSError) and link.errno == errno.ENOMEM)
        or (isinstance(link, RuntimeError) and str(link) == "can't start new thread")
        for link in _chain(error)
    )


def lost_a_program(error: BaseException) -> bool:
    """Whether a program or process that the handler used failed or went away."""
    return any(
        isinstance(link, _BROKEN_TALK)
        or type(link).__name__ in ("BrokenProcessPool", "IncompleteReadError")
        or _return_code(link) not in (None, 0)
        for link in _chain(error)
    )


def is_stop_code(exit_code: int | None) -> bool:
    """Whether a process that ended with this code was ended by a stop signal."""
    return exit_code in _STOP_CODES


def _return_code(error: BaseException) -> int | None:
    code = error.__dict__.get("returncode")
    return code if isinstance(code, int) else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and what it was raised from or while handling."""
    waiting, seen = [error], 0
    while waiting and seen < _LONGEST_CHAIN:
        link = waiting.pop()
        seen += 1
        yield link
        if isinstance(link, BaseExceptionGroup):
            waiting.extend(link.exceptions)
        waiting.extend(past for past in (link.__cause__, link.__context__) if past is not None)
