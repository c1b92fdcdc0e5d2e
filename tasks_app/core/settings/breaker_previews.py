"""How often a circuit breaker would have opened by what failed lately."""

from collections import deque
from collections.abc import Iterable, Sequence

from tasks_app.core.dispatch.breakers import counted
from tasks_app.core.figures import short
from tasks_app.core.settings.settings_changes import Settings
from tasks_app.core.words import say, say_count


def preview_breaker(failed: Iterable[tuple[float, bool]], after: Settings, guarded: str) -> str:
    """Say how often a breaker would have opened by failures at these instants."""
    failed_at = counted(failed, permanent=after["breaker_counts_permanent"])
    failures = after["breaker_failures"]
    if failures is None:
        return say("breaker: none; failures never pause %(guarded)s.", guarded=guarded)
    window, open_for = after["breaker_window_seconds"], after["breaker_open_seconds"]
    opened = openings(failed_at, failures, window, open_for)
    return say_count(
        "breaker %(failures)s in %(window)s: by the %(seen)s lately it would have opened once.",
        "breaker %(failures)s in %(window)s: by the %(seen)s lately it would have "
        "opened %(count)s times.",
        opened,
        failures=failures,
        window=short(window),
        seen=say_count("%(count)s failure", "%(count)s failures", len(failed_at)),
    )


def openings(failed_at: Sequence[float], failures: int, window: float, open_for: float) -> int:
    """How often a breaker would have opened; instants in seconds, in order.

    What fails while it is open would not have run, and is not counted.

    >>> openings([0, 1, 2, 3, 50, 51, 52], failures=3, window=10, open_for=30)
    2
    """
    opened, until = 0, float("-inf")
    recent: deque[float] = deque()
    for at in failed_at:
        if at < until:
            continue
        while recent and recent[0] <= at - window:
            recent.popleft()
        recent.append(at)
        if len(recent) >= failures:
            opened, until = opened + 1, at + open_for
            recent.clear()
    return opened
