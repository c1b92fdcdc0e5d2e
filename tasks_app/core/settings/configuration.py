"""What settings must agree on with each other; each fault names the field to change."""

from collections.abc import Iterator, Sequence

from tasks_app.core.attempts.error_classes import validate_error_entries
from tasks_app.core.faults import Fault
from tasks_app.core.words import say


def supervisor_faults(
    *, tick: float, leader_lease: float, heartbeat: float, stale_after: float, freeze_limit: float
) -> Iterator[Fault]:
    """Faults among the supervisor's settings; seconds.

    ``freeze_limit`` is after how long the database cuts off a leader that froze in a transaction.

    >>> [str(fault) for fault in supervisor_faults(
    ...     tick=1, leader_lease=10, heartbeat=10, stale_after=9, freeze_limit=5
    ... )]
    ['stale_after_seconds: must be above heartbeat_seconds (10), or a worker is lost between two']
    """
    if stale_after <= heartbeat:
        yield Fault(
            "stale_after_seconds",
            say(
                "must be above heartbeat_seconds (%(heartbeat)s), or a worker is lost between two",
                heartbeat=f"{heartbeat:g}",
            ),
        )
    if leader_lease <= tick:
        yield Fault(
            "leader_lease_seconds",
            say(
                "must be above tick_seconds (%(tick)s), or an idle leader loses its lease",
                tick=f"{tick:g}",
            ),
        )
    if leader_lease <= freeze_limit:
        yield Fault(
            "leader_lease_seconds",
            say(
                "must be above %(freeze_limit)s, after which the database cuts off a frozen leader",
                freeze_limit=f"{freeze_limit:g}",
            ),
        )


def kind_faults(
    *,
    backoff_base: float,
    backoff_cap: float,
    permanent_errors: Sequence[str],
    retryable_errors: Sequence[str],
) -> Iterator[Fault]:
    """Faults among a kind's settings; seconds."""
    if backoff_cap < backoff_base:
        yield Fault(
            "backoff_cap_seconds",
            say(
                "must be at least backoff_base_seconds (%(backoff_base)s), the first delay",
                backoff_base=f"{backoff_base:g}",
            ),
        )
    yield from validate_error_entries(permanent_errors, retryable_errors)
