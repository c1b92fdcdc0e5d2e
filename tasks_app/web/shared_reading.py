"""One reading of the record for all the pages of this process that ask again at the same sample."""

import threading
import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from django.db import close_old_connections

T = TypeVar("T")

LONGEST: Final = 1.0
"""Seconds that a reading serves: a supervisor that samples no more must show as soon as before."""


class SharedReading(Generic[T]):
    """What was read last, for as long as the same sample is the latest, a second at most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: tuple[float, float, T] | None = None

    def at(self, sample: float | None, read: Callable[[], T]) -> T:
        """The reading at a sample's instant; without one it is read anew.

        Who comes while another reads waits for it, and gets the same.
        """
        if sample is None:
            return read()
        if not self._lock.acquire(blocking=False):
            # Whoever waits for another's reading holds no connection meanwhile.
            close_old_connections()
            self._lock.acquire()
        try:
            if self._read is not None:
                known, until, value = self._read
                if known == sample and time.monotonic() < until:
                    return value
            value = read()
            self._read = sample, time.monotonic() + LONGEST, value
            return value
        finally:
            self._lock.release()
