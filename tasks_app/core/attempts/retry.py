"""What follows an attempt that did not complete: wait and try again, or give up to a human."""

from random import Random
from typing import Final

from tasks_app.core.attempts.error_classes import ErrorClass, classify_error
from tasks_app.core.bounds import clamped
from tasks_app.core.facts import ErrorFacts, RetryDecision, RetryPolicy
from tasks_app.core.states import DeadReason

LONGEST_RETRY_AFTER: Final = 3600.0
"""Seconds; a Retry-After beyond it is a mistake or an attack, and must not park a task for days."""


def backoff_seconds(attempt: int, policy: RetryPolicy, rng: Random) -> float:
    """Seconds to wait after failed attempt number ``attempt`` (1, 2, ...), with jitter.

    min(cap, base * 2^(attempt-1)) * uniform(1 - jitter, 1 + jitter); by default 2, 4, 8 ... 60 s,
    each +-25 % (seed). Without the jitter, tasks that a rate limit failed together would all come
    back in the same instant and trip it again.

    >>> no_jitter = RetryPolicy(jitter=0)
    >>> [backoff_seconds(attempt, no_jitter, Random(1)) for attempt in (1, 2, 3, 6, 10**9)]
    [2.0, 4.0, 8.0, 60.0, 60.0]
    """
    # 2.0**1024 raises OverflowError; a product of floats only becomes infinite.
    doublings = min(max(attempt, 1) - 1, 1000)
    delay = min(policy.cap, policy.base * 2.0**doublings)
    return delay * rng.uniform(1 - policy.jitter, 1 + policy.jitter)


def decide_retry(
    error: ErrorFacts, attempts: int, policy: RetryPolicy, rng: Random
) -> RetryDecision:
    """Decide after a reported failure; ``attempts`` counts the one that failed.

    A wait that the other side asked for is a least one, up to an hour. It is jittered upwards only:
    whoever was turned away together must neither come early nor come back together.
    """
    if classify_error(error, policy).error_class is ErrorClass.PERMANENT:
        return RetryDecision(retry=False, dead_reason=DeadReason.PERMANENT)
    if attempts >= policy.max_attempts:
        return RetryDecision(retry=False, dead_reason=DeadReason.EXHAUSTED)
    delay = backoff_seconds(attempts, policy, rng)
    asked = asked_wait(error.retry_after)
    if asked > 0:
        delay = max(delay, min(LONGEST_RETRY_AFTER, asked * rng.uniform(1, 1 + policy.jitter)))
    return RetryDecision(retry=True, delay=delay)


def decide_reclaim(
    *,
    started: bool,
    attempts: int,
    max_attempts: int,
    distinct_dead_workers: int,
    poison_after: int,
) -> DeadReason | None:
    """Decide for a task whose lease was taken back: why it is DEAD, or None for PENDING at once.

    A task that was only assigned goes back free of charge. One that had started has used an
    attempt, counted in ``attempts``. ``distinct_dead_workers`` are those that died as they ran it,
    the present one included: from ``poison_after`` on the task itself is the likely cause. Poison
    comes before exhausted, as both fall together by default (3 and 3) and it tells more.

    >>> decide_reclaim(
    ...     started=True, attempts=3, max_attempts=3, distinct_dead_workers=1, poison_after=3
    ... )
    <DeadReason.EXHAUSTED: 'exhausted'>
    """
    if not started:
        return None
    if distinct_dead_workers >= poison_after:
        return DeadReason.POISON
    return DeadReason.EXHAUSTED if attempts >= max_attempts else None


def asked_wait(retry_after: float | None) -> float:
    """The wait asked for, within 0 and an hour; 0 for none and for what is no number.

    >>> asked_wait(None), asked_wait(float("nan")), asked_wait(-1), asked_wait(5), asked_wait(1e99)
    (0.0, 0.0, 0.0, 5, 3600.0)
    """
    return clamped(0.0 if retry_after is None else retry_after, 0.0, LONGEST_RETRY_AFTER)
