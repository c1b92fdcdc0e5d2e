"""Calls to the control plane that fail: when to try again, and one log line an outage."""

import logging
import random
from typing import Final

from tasks_app.sdk.link import LinkDown

logger: Final = logging.getLogger(__name__)

FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 2.0
"""Seconds; a PostgreSQL restart takes about one, and a fleet must not all come back at once."""


class Outage:
    """Counts the failures in a row of one kind of call."""

    def __init__(self, call: str) -> None:
        self._call = call
        self._failures = 0

    def failed(self, error: Exception) -> float:
        """Note a failure; return the pause before the next try, in seconds, with full jitter."""
        if not isinstance(error, LinkDown):
            logger.error("%s: unexpected error, trying again", self._call, exc_info=error)
        elif self._failures == 0:
            logger.warning("%s: the control plane cannot be reached: %s", self._call, error)
        self._failures += 1
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self._failures, 10))
        return random.uniform(FIRST_PAUSE, longest)

    def succeeded(self) -> None:
        """Note that the call works."""
        if self._failures:
            logger.info("%s: the control plane is back", self._call)
            self._failures = 0
