"""The work of a transaction in seconds of a processor, whatever else the machine does meanwhile."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from django.db import connection

Result = TypeVar("Result")


class Work:
    """The longest of some calls: seconds of a processor, this thread's and its database session's.

    The tests' server runs on this machine, so the kernel tells how long its process has run.
    """

    def __init__(self) -> None:
        self.longest = 0.0

    def of(self, call: Callable[[], Result]) -> Result:
        """Make a call, and remember its length where it is the longest yet."""
        connection.ensure_connection()
        began = _seconds()
        result = call()
        self.longest = max(self.longest, _seconds() - began)
        return result


def _seconds() -> float:
    session = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    return time.thread_time() + int(session.read_text().split()[0]) / 1e9
