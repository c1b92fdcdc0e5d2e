"""Circuit breakers: closed, open after failures in a window, half-open for one probe."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tasks_app.core.facts import Breaker

SETTINGS: Final = (
    "breaker_failures",
    "breaker_window_seconds",
    "breaker_open_seconds",
    "breaker_counts_permanent",
)
"""What kinds and limits have of a breaker."""


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """So many ``failures`` within ``window`` seconds open it for ``open_for`` seconds."""

    failures: int
    window: float
    open_for: float


@dataclass(frozen=True, slots=True)
class BreakerFacts:
    """Where a breaker stands: for how many seconds, and what was seen meanwhile.

    ``failures`` within the window and since it closed; ``probe_succeeded`` is None while the probe
    has not ended.
    """

    state: Breaker
    age: float
    failures: int
    probe_succeeded: bool | None = None


def next_state(facts: BreakerFacts, policy: BreakerPolicy) -> Breaker:
    """Decide where the breaker goes from here.

    >>> policy = BreakerPolicy(failures=3, window=60, open_for=30)
    >>> next_state(BreakerFacts(Breaker.CLOSED, age=5, failures=3), policy)
    <Breaker.OPEN: 'open'>
    >>> next_state(BreakerFacts(Breaker.OPEN, age=30, failures=3), policy)
    <Breaker.HALF_OPEN: 'half_open'>
    """
    if facts.state is Breaker.CLOSED:
        return Breaker.OPEN if facts.failures >= policy.failures else Breaker.CLOSED
    if facts.state is Breaker.OPEN:
        return Breaker.HALF_OPEN if facts.age >= policy.open_for else Breaker.OPEN
    if facts.probe_succeeded is None:
        return Breaker.HALF_OPEN
    return Breaker.CLOSED if facts.probe_succeeded else Breaker.OPEN


def counted(failed: Iterable[tuple[float, bool]], *, permanent: bool) -> Sequence[float]:
    """The instants of the failures that a breaker counts, in order; each with "is permanent".

    A permanent error speaks against a payload, unless the breaker is told to count it: all that
    die of a refused log-in (HTTP 401) say that the other side is to be left alone.

    >>> counted([(2.0, True), (1.0, False)], permanent=False)
    [1.0]
    """
    return sorted(at for at, is_permanent in failed if permanent or not is_permanent)
