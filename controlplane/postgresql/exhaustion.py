"""A database that has no connection left: waited for, and said with its remedy."""

import random
import time
from collections.abc import Callable
from typing import Any, Final

import psycopg

_SIGNS: Final = (
    "too many clients already",
    "remaining connection slots are reserved",
    "too many connections for ",
    "no more connections allowed",
)
"""What PostgreSQL and PgBouncer say; a refused connection carries no SQLSTATE."""

FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 0.5
"""Seconds between two tries, with full jitter: whoever waits must not come back together."""

REMEDY: Final = (
    "The database has no connection left (max_connections, or a limit of the role, database or "
    "pooler). A worker keeps up to 8 connections of its own and opens one for each handler that "
    "uses the database: run fewer --slots, raise max_connections, or put a pooler in front."
)


def is_exhausted(error: BaseException) -> bool:
    """Whether the database refused a connection because it has none left.

    >>> is_exhausted(psycopg.OperationalError("FATAL:  sorry, too many clients already"))
    True
    >>> is_exhausted(psycopg.OperationalError("connection refused"))
    False
    """
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate == "53300" or any(sign in str(error) for sign in _SIGNS)


def connected(connect: Callable[[], Any], patience: float) -> Any:
    """Connect, trying again for ``patience`` seconds while no connection is left.

    Raises OperationalError that says what was used up and what to do about it.
    """
    give_up = time.monotonic() + patience
    pause = FIRST_PAUSE
    while True:
        try:
            return connect()
        except psycopg.OperationalError as error:
            if not is_exhausted(error):
                raise
            if time.monotonic() >= give_up:
                raise psycopg.errors.TooManyConnections(
                    f"{str(error).strip()}. {REMEDY}"
                ) from error
        time.sleep(random.uniform(0, pause))
        pause = min(LONGEST_PAUSE, pause * 2)
