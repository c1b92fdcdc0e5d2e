"""Bounds of the numbers that decisions reckon with, and how one out of them is brought back.

Every door refuses what is out of bounds. A decision brings it back all the same: a record may hold
what an older door let in, and a round that loops or overflows ends its leader, and the next one.
"""

from typing import Final

LONGEST_SECONDS: Final = 366 * 86400.0
"""A year; the longest span that a setting may name."""

LARGEST: Final = 1e9
"""Of settings without a unit."""

LOWEST_SKILL: Final = 0.001
HIGHEST_SKILL: Final = 1000.0
"""A worker that is a thousand times as fast or slow as another is measured wrongly."""

MOST_SLOTS: Final = 1000
"""Of one worker."""

LONGEST_QUEUE: Final = 1e12
"""Expected seconds on one worker: far past any that are true, and still exact to a millisecond."""

SHORTEST_ESTIMATE: Final = 1e-6
LOWEST_WEIGHT: Final = 1e-6


def clamped(value: float, lowest: float, highest: float) -> float:
    """The value, or the nearest bound; the lowest for what is no number.

    >>> clamped(2, 1, 3), clamped(1e-306, 0.001, 1000), clamped(float("inf"), 0, 9)
    (2, 0.001, 9)
    >>> clamped(float("nan"), 0, 9)
    0
    """
    return min(highest, value) if value >= lowest else lowest
