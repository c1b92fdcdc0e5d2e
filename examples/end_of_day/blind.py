"""A supervisor that hands out work and never looks for what was lost: what the sweep is for.

The same rounds under the same lease, without the sweep. Nothing raises an error; some jobs just
never end.
"""

import signal
import threading
import time
from typing import Final

import django

BUSY_PAUSE: Final = 0.02
IDLE_PAUSE: Final = 0.2


def main() -> None:
    """Hand out until SIGTERM."""
    django.setup()
    from tasks_app.services.dispatch.rounds import run_round
    from tasks_app.services.dispatch.supervisor import stand_by

    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    epoch = stand_by("blind", time.monotonic() + 60, stopping.is_set)
    if epoch is None:
        raise SystemExit("another supervisor is on duty")
    number = 0
    while not stopping.is_set():
        report = run_round(epoch, number, sweeping=False)
        number += 1
        stopping.wait(BUSY_PAUSE if report.moved else IDLE_PAUSE)


if __name__ == "__main__":
    main()
