"""Transaction boundaries: one place that begins them and repeats what PostgreSQL asks to repeat."""

import functools
import random
import time
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

import psycopg
from django.db import OperationalError, transaction

P = ParamSpec("P")
R = TypeVar("R")

TRIES: Final = 5
REPEATABLE: Final = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)


def transactional(function: Callable[P, R]) -> Callable[P, R]:
    """Run the function in one transaction; repeat it on 40P01 and 40001, which roll back whole."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        for attempt in range(TRIES):
            try:
                with transaction.atomic():
                    return function(*args, **kwargs)
            except OperationalError as error:
                if not isinstance(error.__cause__, REPEATABLE) or attempt == TRIES - 1:
                    raise
                time.sleep(random.uniform(0, 0.01 * 2**attempt))
        raise AssertionError("unreachable: the last try returns or raises")

    return wrapped
