"""What follows an attempt that did not complete."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.attempts.retry import (
    LONGEST_RETRY_AFTER,
    backoff_seconds,
    decide_reclaim,
    decide_retry,
)
from tasks_app.core.facts import ErrorFacts, RetryPolicy
from tasks_app.core.states import DeadReason

PLAIN = RetryPolicy()
TRANSIENT = ErrorFacts("TimeoutError", "too slow")
rngs = st.randoms(use_true_random=False)


@pytest.mark.parametrize(
    ("attempt", "seconds"), [(1, 2), (2, 4), (3, 8), (4, 16), (5, 32), (6, 60), (7, 60)]
)
def test_the_wait_doubles_from_2_seconds_to_60_give_or_take_a_quarter(
    attempt: int, seconds: float
) -> None:
    rng = Random(7)
    waits = [backoff_seconds(attempt, PLAIN, rng) for _ in range(500)]
    assert all(0.75 * seconds <= wait <= 1.25 * seconds for wait in waits)
    # The whole span is used, else dozens that failed together would come back together.
    assert min(waits) < 0.8 * seconds
    assert max(waits) > 1.2 * seconds


@given(
    st.integers(-5, 10**400),
    st.floats(0, 1e300),
    st.floats(0, 1e300),
    st.floats(0, 1),
    rngs,
)
def test_no_attempt_number_and_no_policy_overflows_or_passes_the_cap(
    attempt: int, base: float, cap: float, jitter: float, rng: Random
) -> None:
    policy = RetryPolicy(base=base, cap=cap, jitter=jitter)
    assert 0 <= backoff_seconds(attempt, policy, rng) <= cap * (1 + jitter)


def test_a_transient_error_is_retried_until_the_attempts_are_used_up() -> None:
    decisions = [decide_retry(TRANSIENT, attempts, PLAIN, Random(1)) for attempts in (1, 2, 3)]
    assert [decision.retry for decision in decisions] == [True, True, False]
    assert [decision.dead_reason for decision in decisions] == [None, None, DeadReason.EXHAUSTED]


def test_an_unknown_error_is_retried() -> None:
    assert decide_retry(ErrorFacts("KeyError", "?"), 1, PLAIN, Random(1)).retry


def test_a_permanent_error_is_dead_at_the_first_attempt() -> None:
    error = ErrorFacts("E", "no such page", status=404, retry_after=5)
    decision = decide_retry(error, 1, PLAIN, Random(1))
    assert (decision.retry, decision.dead_reason) == (False, DeadReason.PERMANENT)


@given(st.floats(0, 1e9), st.integers(1, 9), rngs)
def test_a_retry_is_never_earlier_than_asked_for_up_to_an_hour(
    asked: float, attempts: int, rng: Random
) -> None:
    error = ErrorFacts("E", "slow down", status=429, retry_after=asked)
    decision = decide_retry(error, attempts, RetryPolicy(max_attempts=10), rng)
    assert min(asked, LONGEST_RETRY_AFTER) <= decision.delay <= LONGEST_RETRY_AFTER


def test_those_turned_away_together_do_not_come_back_together() -> None:
    error = ErrorFacts("E", "slow down", status=429, retry_after=30)
    rng = Random(1)
    delays = [decide_retry(error, 1, PLAIN, rng).delay for _ in range(100)]
    assert len(set(delays)) == 100
    assert all(30 <= delay <= 37.5 for delay in delays)


@pytest.mark.parametrize("asked", [None, 0, -5, float("nan"), float("-inf")])
def test_a_wait_that_makes_no_sense_leaves_the_backoff(asked: float | None) -> None:
    error = ErrorFacts("E", "slow down", status=429, retry_after=asked)
    assert decide_retry(error, 1, PLAIN, Random(3)).delay == backoff_seconds(1, PLAIN, Random(3))


def test_a_kinds_own_long_backoff_is_not_cut_to_an_hour() -> None:
    policy = RetryPolicy(base=7200, cap=7200, jitter=0)
    assert decide_retry(TRANSIENT, 1, policy, Random(1)).delay == 7200


def reclaim(*, started: bool = True, attempts: int = 1, dead_workers: int = 1) -> DeadReason | None:
    return decide_reclaim(
        started=started,
        attempts=attempts,
        max_attempts=3,
        distinct_dead_workers=dead_workers,
        poison_after=3,
    )


def test_a_reclaimed_task_goes_back_while_it_has_attempts() -> None:
    assert [reclaim(attempts=attempts) for attempts in (1, 2, 3)] == [
        None,
        None,
        DeadReason.EXHAUSTED,
    ]


def test_a_task_that_was_only_assigned_goes_back_whatever_it_has_used() -> None:
    assert reclaim(started=False, attempts=3, dead_workers=3) is None


def test_a_task_that_three_workers_died_of_is_poison_rather_than_exhausted() -> None:
    assert reclaim(attempts=3, dead_workers=3) is DeadReason.POISON
