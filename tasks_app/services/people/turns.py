"""Turns in one process: so many at once for each subject, a few that wait, the rest refused."""

import threading
from collections import Counter


class Turns:
    """Whoever takes a turn gives it back; a subject is a person, a program, or "" for all."""

    def __init__(self, at_once: int, waiting: int = 0, longest_wait: float = 0.0) -> None:
        self._at_once = at_once
        self._most_waiting = waiting
        self._longest_wait = longest_wait
        self._changed = threading.Condition()
        self._running: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()

    def take(self, subject: str = "", *, may_wait: bool = True) -> bool:
        """Take a turn, at once or after a wait; False where there is none."""
        with self._changed:
            if not self._free(subject) and not (may_wait and self._await(subject)):
                return False
            self._running[subject] += 1
            return True

    def give(self, subject: str = "") -> None:
        """End a turn."""
        with self._changed:
            _less(self._running, subject)
            self._changed.notify_all()

    def running(self, subject: str = "") -> int:
        """How many turns a subject has now."""
        with self._changed:
            return self._running[subject]

    def waiting(self, subject: str = "") -> int:
        """How many wait for a turn of a subject now."""
        with self._changed:
            return self._waiting[subject]

    def _free(self, subject: str) -> bool:
        return self._running[subject] < self._at_once

    def _await(self, subject: str) -> bool:
        if self._waiting[subject] >= self._most_waiting:
            return False
        self._waiting[subject] += 1
        try:
            return self._changed.wait_for(lambda: self._free(subject), self._longest_wait)
        finally:
            _less(self._waiting, subject)


def _less(counted: Counter[str], subject: str) -> None:
    """Count one less, and forget a subject at zero: there is no end to subjects."""
    counted[subject] -= 1
    if counted[subject] <= 0:
        del counted[subject]
