"""Waiting for a condition, never for a time."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def wait_for(look: Callable[[], Found | None], what: str, seconds: float = 60.0) -> Found:
    """Return the first true thing that ``look`` returns; else fail, naming ``what``."""
    give_up = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > give_up:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(0.02)
