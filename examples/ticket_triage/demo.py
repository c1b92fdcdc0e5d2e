"""``python -m examples.ticket_triage.demo``: a night of tickets, in waves, for whoever watches.

Each ticket is a job; what the classifier flags waits for a person in the inbox. A second run adds
nothing and ends at once.
"""

import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Final

from examples.ticket_triage.settings import OWN_TICKETS
from examples.ticket_triage.tickets import Ticket, read_tickets

NIGHT: Final = "demo"
FIRST_WAVE: Final = 40
LARGEST_WAVE: Final = 12
PAUSE_SECONDS: Final = 9.0
"""With waves of 6.5 tickets on average the file lasts three minutes; a wave keeps the three workers
busy for about half of a pause, so that the charts rise and fall."""

PATIENCE_SECONDS: Final = 60.0
LOOK_SECONDS: Final = 0.5


def waves(tickets: Sequence[Ticket]) -> Iterator[Sequence[Ticket]]:
    """Cut the tickets into a first large wave and many small ones, alike in every run."""
    rng = random.Random(1)
    start, size = 0, FIRST_WAVE
    while start < len(tickets):
        yield tickets[start : start + size]
        start, size = start + size, rng.randint(1, LARGEST_WAVE)


def main() -> int:
    """Submit the demo's tickets into the stack that runs here."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    import django

    django.setup()
    from examples.ticket_triage.steps import kinds_are_known

    give_up = time.monotonic() + PATIENCE_SECONDS
    while not kinds_are_known():
        if time.monotonic() > give_up:
            print("No worker offers the demo's kinds: start one with `manage.py work`.")
            return 1
        time.sleep(LOOK_SECONDS)
    tickets = read_tickets(OWN_TICKETS)
    created = 0
    for wave in waves(tickets):
        new = _submit(wave)
        created += new
        if new:
            print(f"Demo: {len(wave)} tickets came in.", flush=True)
            time.sleep(PAUSE_SECONDS)
    print(f"Demo: all {len(tickets)} tickets are on record, {created} are new.", flush=True)
    return 0


def _submit(wave: Sequence[Ticket]) -> int:
    """Submit a wave, again until it is on record; return how many tickets are new."""
    from django.db import InterfaceError, OperationalError, connection

    from examples.ticket_triage.steps import submit_with_people

    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return submit_with_people(wave, NIGHT)
        except (OperationalError, InterfaceError) as error:
            # Whoever watches may have killed PostgreSQL; by their keys nothing is submitted twice.
            if time.monotonic() > give_up:
                raise
            print(f"Demo: trying again, the database is away: {str(error).strip()}", flush=True)
            connection.close()
            time.sleep(LOOK_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
