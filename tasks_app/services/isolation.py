"""One bad row fails neither its batch nor the round: it is set apart, named in the log, and left.

What a row cannot be is the database's word on it: a constraint, a value out of range. That the
database is away, or that another leads, concerns all of them and is raised as it is.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

import psycopg
from django.db import DatabaseError, InterfaceError, OperationalError, transaction

log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

TELL_SECONDS: Final = 60.0
MOST_TOLD: Final = 1000
_told: Final[dict[str, float]] = {}
_isolating: Final = ContextVar("isolating", default=False)

OF_A_ROW: Final = (psycopg.errors.ProgramLimitExceeded, psycopg.errors.LockNotAvailable)
"""A row that somebody else holds for longer than whoever leads may wait is left like a bad one."""

LOCK_INDEX: Final = "lease_lock_once"
"""Two that take one lock in the same instant: neither is a bad row, and the loser repeats."""


def is_of_a_row(error: BaseException) -> bool:
    """Whether what was written is to blame, and not that the record cannot be used now."""
    cause = error.__cause__
    if isinstance(cause, psycopg.errors.UniqueViolation):
        return cause.diag.constraint_name != LOCK_INDEX
    if isinstance(error, OperationalError | InterfaceError):
        return isinstance(cause, OF_A_ROW)
    return isinstance(error, DatabaseError | ValueError | ArithmeticError)


@contextmanager
def isolating() -> Iterator[None]:
    """Set bad rows apart within; outside of it one raises, so that what is sound costs nothing.

    A round that failed of a row is run again under it.
    """
    before = _isolating.set(True)
    try:
        yield
    finally:
        _isolating.reset(before)


def apart(
    what: str,
    items: Sequence[T],
    act: Callable[[Sequence[T]], R],
    name: Callable[[T], object],
    left: Callable[[T], object] = id,
) -> list[R]:
    """Act on a batch; where a row is to blame on its halves, down to that row, which is left.

    Returns what ``act`` returned for each part that went through; ``left`` is called with each row
    that did not. Part of a transaction: each part has a savepoint of its own.
    """
    if not items:
        return []
    if not _isolating.get():
        return [act(items)]
    try:
        with transaction.atomic():
            return [act(items)]
    except Exception as error:
        if not is_of_a_row(error):
            raise
        if len(items) == 1:
            tell(f"{what} {name(items[0])}", error)
            left(items[0])
            return []
    half = len(items) // 2
    parts = (items[:half], items[half:])
    return [done for part in parts for done in apart(what, part, act, name, left)]


def stage(what: str, act: Callable[[], R]) -> R | None:
    """Run one part of a round; None where a row is to blame: the other parts go on."""
    if not _isolating.get():
        return act()
    try:
        with transaction.atomic():
            return act()
    except Exception as error:
        if not is_of_a_row(error):
            raise
        tell(what, error)
        return None


def tell(what: str, error: BaseException) -> None:
    """Name in the log what was left, once a minute: each round may come upon it again."""
    now = time.monotonic()
    if now < _told.get(what, float("-inf")) + TELL_SECONDS:
        return
    if len(_told) >= MOST_TOLD:
        _told.clear()
    _told[what] = now
    log.error("%s: left as it is; everything else goes on", what, exc_info=error)
