"""The only publisher: NOTIFY, sent when the surrounding transaction commits.

A notification is a hint that may be lost; polling is the truth. NOTIFY takes an instance-wide lock
at commit, so there is one a batch, and none in the completion path.
"""

from collections.abc import Iterable
from typing import Final

from django.db import connection

SUPERVISOR: Final = "chargehand_supervisor"
WORKERS: Final = "chargehand_workers"
FEED: Final = "chargehand_feed"

EVERYBODY: Final = "*"
PAYLOAD_BYTES: Final = 7000
"""PostgreSQL refuses payloads of 8,000 bytes or more."""


def _notify(channel: str, payload: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [channel, payload])


def wake_supervisor() -> None:
    """Hint that there is something to hand out."""
    _notify(SUPERVISOR, "")


def wake_workers(worker_ids: Iterable[str]) -> None:
    """Hint to these workers that something was assigned to them."""
    payload = ",".join(worker_ids)
    if payload:
        _notify(WORKERS, payload if len(payload) < PAYLOAD_BYTES else EVERYBODY)


def announce_sample() -> None:
    """Hint to the live screens that a new sample stands in the record."""
    _notify(FEED, "sample")
