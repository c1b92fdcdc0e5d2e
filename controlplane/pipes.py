"""Output whose reader has gone, as in ``manage.py tasks | head``: a command ends without a word."""

import contextlib
import os
import select
import signal
import sys
from collections.abc import Iterator
from typing import TextIO

QUIET = 128 + signal.SIGPIPE
"""How a shell names a program that SIGPIPE has ended."""


@contextlib.contextmanager
def quiet_pipes() -> Iterator[None]:
    """End the process when nobody reads its output any more; other broken pipes stay errors.

    SIGPIPE's default action is no way: it would end a process whose database connection breaks.
    """
    try:
        try:
            yield
        finally:
            # What is still buffered would fail when the interpreter ends, with a traceback.
            sys.stdout.flush()
    except BrokenPipeError:
        broken = [stream for stream in (sys.stdout, sys.stderr) if _has_no_reader(stream)]
        if not broken:
            raise
        for stream in broken:
            _forget(stream)
        sys.exit(QUIET)


def _has_no_reader(stream: TextIO) -> bool:
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return False
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _forget(stream: TextIO) -> None:
    """Let what is buffered go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
