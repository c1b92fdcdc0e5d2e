"""Passwords are hashed a few at a time, and no database connection waits for one.

A hash takes a processor for half a second. Without a bound forty log-ins at once take every
processor and, each with the connection that it read the user by, the whole pool of connections.
"""

import os
from http import HTTPStatus
from typing import Final

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connections

from tasks_app.core.words import say
from tasks_app.services.people.request_limits import TooManyRequests
from tasks_app.services.people.turns import Turns

AT_ONCE: Final = max(1, (os.cpu_count() or 2) // 2)
"""Hashes that are computed at a time: half of the processors stay for pages and probes."""

WAITING: Final = 8
"""Requests that may wait for their turn; the next is refused at once."""

LONGEST_WAIT: Final = 5.0
"""Seconds that one waits for its turn."""

RETRY_SECONDS: Final = 2.0

turns: Final = Turns(AT_ONCE, WAITING, LONGEST_WAIT)
"""The process's one queue for hashing."""


class HashingBusy(TooManyRequests):
    """Too many passwords are being checked: nothing was checked, the form may be sent again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE

    def __init__(self) -> None:
        super().__init__(
            say("Too many passwords are being checked at this moment. Yours was not checked."),
            RETRY_SECONDS,
        )


class BoundedPBKDF2(PBKDF2PasswordHasher):
    """Django's own hash of passwords, computed in turn and without a database connection."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Hash a password. Raises HashingBusy."""
        # A transaction keeps its connection, so it must not wait with it.
        if not turns.take(may_wait=_let_go_of_connections()):
            raise HashingBusy
        try:
            return super().encode(password, salt, iterations)
        finally:
            turns.give()


def _let_go_of_connections() -> bool:
    """Give this thread's connections back, and take others later; False inside a transaction."""
    opened = connections.all(initialized_only=True)
    for each in opened:
        if not each.in_atomic_block:
            each.close()
    return not any(each.in_atomic_block for each in opened)
