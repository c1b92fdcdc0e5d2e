"""Shifts of the supervisor: how they end, and how the lengths of their rounds are told apart."""

from bisect import bisect_left
from enum import StrEnum
from typing import Final


class ShiftEnd(StrEnum):
    """How a shift ended: in good order, told to stop, or without a word, closed by the next."""

    OVER = "over"
    STOPPED = "stopped"
    LOST = "lost"


ROUND_LENGTHS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Upper bounds of the classes of round lengths in seconds; what is longer is in one more class."""


def length_class(seconds: float) -> int:
    """The class of a round of this length.

    >>> length_class(0.0005), length_class(0.001), length_class(0.3), length_class(9)
    (0, 0, 8, 10)
    """
    return bisect_left(ROUND_LENGTHS, seconds)
