"""Transaction boundaries: one place that begins them and repeats what PostgreSQL asks to repeat."""

import functools
import random
import time
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

import psycopg
from django.db import IntegrityError, OperationalError, transaction

from tasks_app.store.dispatch import leader

P = ParamSpec("P")
R = TypeVar("R")

TRIES: Final = 5
REPEATABLE: Final = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)

LOCK_INDEX: Final = "lease_lock_once"


def transactional(function: Callable[P, R]) -> Callable[P, R]:
    """Run the function in one transaction; repeat it where PostgreSQL rolled it back whole.

    That is on 40P01 and 40001, and where another took the same lock key in the same instant.
    """

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        for attempt in range(TRIES):
            try:
                with transaction.atomic():
                    return function(*args, **kwargs)
            except (OperationalError, IntegrityError) as error:
                if not _repeatable(error.__cause__) or attempt == TRIES - 1:
                    raise
                time.sleep(random.uniform(0, 0.01 * 2**attempt))
        raise AssertionError("unreachable: the last try returns or raises")

    return wrapped


def leading(function: Callable[P, R]) -> Callable[P, R]:
    """The same for whoever leads: a row that somebody else holds is not waited for for long.

    What leads passes over such rows (SKIP LOCKED) wherever it can; this is for all others. It
    raises OperationalError of LockNotAvailable, after which the rest goes on.
    """

    @transactional
    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        leader.wait_briefly()
        return function(*args, **kwargs)

    return wrapped


def _repeatable(cause: BaseException | None) -> bool:
    """A round and a person may both see a lock free: the index lets one of them have it."""
    if isinstance(cause, psycopg.errors.UniqueViolation):
        return cause.diag.constraint_name == LOCK_INDEX
    return isinstance(cause, REPEATABLE)
