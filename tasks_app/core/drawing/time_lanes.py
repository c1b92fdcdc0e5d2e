"""Bars over time: which lane each stands in, and where a time axis has its lines."""

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Final

STEPS: Final = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    *(1, 2, 5, 10, 15, 30),
    *(60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 21600, 43200, 86400),
)
"""Seconds between two lines that people count in."""


def pack(spans: Sequence[tuple[float, float]], slack: float = 0.0) -> list[int]:
    """The lane of each span (start, end), as few lanes as possible without two at a time in one.

    Two may share a lane for up to ``slack``: an end is on record a moment after it happened.

    >>> pack([(0, 5), (1, 2), (2, 4), (6, 7)])
    [0, 1, 1, 0]
    """
    lanes = [0] * len(spans)
    busy: list[tuple[float, int]] = []
    free: list[int] = []
    used = 0
    for index in sorted(range(len(spans)), key=lambda each: spans[each]):
        start, end = spans[index]
        while busy and busy[0][0] <= start + slack:
            heappush(free, heappop(busy)[1])
        if free:
            lane = heappop(free)
        else:
            lane, used = used, used + 1
        lanes[index] = lane
        heappush(busy, (end, lane))
    return lanes


def ticks(seconds: float, most: int) -> list[float]:
    """The lines of an axis of so many seconds from 0, at most ``most`` and the one at 0.

    >>> ticks(47, 5)
    [0, 10, 20, 30, 40]
    """
    step = next((each for each in STEPS if each * most >= seconds), None)
    if step is None:
        days = STEPS[-1]
        step = days * -(-seconds // (days * most))
    return [index * step for index in range(int(seconds / step) + 1)]
