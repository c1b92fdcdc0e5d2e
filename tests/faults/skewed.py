"""A worker whose clocks are wrong: ``python -m tests.faults.skewed NAME MODULES RATE``.

Its wall clock and the monotonic clock that it is given run at ``RATE``, and both jump by so many
seconds as the file ``clock`` in the test's folder says, whenever that changes.
"""

import sys
import time
from typing import Final

import django

from tests.faults.handlers import folder

right_wall, right_monotonic = time.time, time.monotonic
BEGAN: Final = right_monotonic()


def jumped() -> float:
    """By how much the clocks are wrong beside their rate, in seconds."""
    path = folder() / "clock"
    return float(path.read_text() or 0) if path.exists() else 0.0


def main(name: str, modules: str, rate: float) -> int:
    """Work until SIGTERM, by clocks that are wrong."""
    django.setup()
    from tasks_app.sdk.options import Options
    from tasks_app.sdk.runtime import Worker
    from tasks_app.services.attempts.direct_link import DirectLink

    def drift() -> float:
        return (rate - 1) * (right_monotonic() - BEGAN) + jumped()

    time.time = lambda: right_wall() + drift()
    options = Options(modules=modules.split(","), name=name, slots=2)
    return Worker(DirectLink(), options, clock=lambda: right_monotonic() + drift()).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
