"""How many retries a kind with a budget may hand out: credit that first attempts and time earn.

First attempts earn the kind's share of a retry each, so a storm of retries cannot feed itself. Time
earns a little too, or the last failures of a batch would wait for ever once no new work comes; it
never saves up more than the free retries that a kind begins with, so a quiet day pays for no storm.
"""

import math
from typing import Final

FREE: Final = 10.0
"""Retries that a kind may begin with, so that a quiet kind can retry at all."""

PER_SECOND: Final = 1 / 60
"""What time earns at least: a retry a minute."""

DRAIN_SECONDS: Final = 6 * 3600.0
"""Of many that wait, time earns a share: a minute each would take 10,000 of them a week. So they
are back within about a day, at less than one retry in two seconds."""

MOST: Final = 1000.0
"""Credit that first attempts may save up."""


def credit_now(credit: float, age: float, waiting: int = 0) -> float:
    """The credit after ``age`` seconds in which nothing was spent and so many failures waited.

    >>> credit_now(0.5, age=30), credit_now(0, age=86400), credit_now(500, age=60)
    (1.0, 10.0, 500)
    >>> credit_now(0, age=1, waiting=100) == credit_now(0, age=1), credit_now(0, 10, waiting=21600)
    (True, 10.0)
    """
    earned = max(0.0, age) * max(PER_SECOND, waiting / DRAIN_SECONDS)
    return credit if credit >= FREE else min(FREE, credit + earned)


def retries_allowed(credit: float) -> int:
    """Whole retries that a credit pays for.

    >>> retries_allowed(2.9999999999), retries_allowed(2.5), retries_allowed(-1)
    (3, 2, 0)
    """
    # A tenth of a hundred first attempts, summed up, falls short of ten by a hair.
    return max(0, math.floor(credit + 1e-6))
