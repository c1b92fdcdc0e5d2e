"""Keeping handlers away from the terminal: a program that touches it would stop its whole job."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def read_nothing() -> None:
    """Make standard input /dev/null, for this process and for every program that it starts."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    if nothing != 0:
        os.dup2(nothing, 0)
        os.close(nothing)
    # dup2 makes it inheritable; an open that landed on 0 is not.
    os.set_inheritable(0, True)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  as long as the process


@contextmanager
def kept_from_terminal() -> Iterator[None]:
    """Have handlers that run in this process, and their programs, read nothing.

    A program of a job in the background (``work &``) that reads the terminal or changes its
    settings through /dev/tty stops the whole job, this worker too: with both signals ignored,
    which programs inherit, its call fails or succeeds instead. Only in a main thread; elsewhere the
    process is somebody else's.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    read_nothing()
    numbers = (signal.SIGTTIN, signal.SIGTTOU)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
