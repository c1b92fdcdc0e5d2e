"""What a change would do, in sentences: exact figures, whatever the past was."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.dispatch.breakers import SETTINGS as BREAKER
from tasks_app.core.facts import (
    ErrorFacts,
    KindPolicy,
    Snapshot,
    StrategyName,
    TaskFacts,
    WorkerFacts,
)
from tasks_app.core.settings.breaker_previews import openings
from tasks_app.core.settings.hand_out_previews import (
    LimitPast,
    Silences,
    preview_limit,
    preview_stale_after,
    preview_strategy,
)
from tasks_app.core.settings.kind_previews import KindPast, PastAttempt, preview_kind
from tasks_app.core.settings.supervision_previews import (
    Ahead,
    RoundsPast,
    preview_backlog,
    preview_quarantine,
    preview_tick,
)
from tasks_app.core.states import DeadReason, Outcome

NOW: dict[str, Any] = {
    "paused": False,
    "timeout_seconds": 900.0,
    "estimate_seconds": 1.0,
    "max_attempts": 3,
    "backoff_base_seconds": 2.0,
    "backoff_cap_seconds": 60.0,
    "backoff_jitter": 0.25,
    "permanent_errors": [],
    "retryable_errors": [],
    "breaker_failures": None,
    "breaker_window_seconds": 60.0,
    "breaker_open_seconds": 30.0,
    "breaker_counts_permanent": False,
    "retry_budget": None,
    "poison_after": 3,
}


def ran(seconds: float, outcome: Outcome = Outcome.COMPLETED, **more: Any) -> PastAttempt:
    given: dict[str, Any] = {"skill": 1.0, "number": 1, "ended_at": 0.0, **more}
    return PastAttempt(seconds=seconds, outcome=outcome, **given)


def said(past: KindPast, **changed: Any) -> str:
    return "\n".join(preview_kind(past, NOW, {**NOW, **changed}))


def test_a_shorter_timeout_tells_the_share_that_it_would_have_stopped() -> None:
    past = KindPast([ran(1)] * 491 + [ran(16)] * 9, hours=24)
    assert said(past, timeout_seconds=15.0) == (
        "timeout 15 s: 1.8 % of the 500 attempts ran longer and would have been stopped."
    )


def test_a_longer_timeout_tells_what_was_stopped() -> None:
    past = KindPast([ran(900, Outcome.TIMEOUT), ran(3)], hours=2)
    assert "1 of the 2 attempts were stopped at 15 min" in said(past, timeout_seconds=1200.0)


def test_without_a_past_nothing_is_made_up() -> None:
    empty = KindPast([], hours=0)
    assert "nothing is known" in said(empty, timeout_seconds=1.0)
    assert "to compare it with" in said(empty, estimate_seconds=9.0)
    assert "none of the tasks" in said(empty, max_attempts=1)


def test_an_estimate_is_held_against_the_median_at_skill_one() -> None:
    past = KindPast([ran(2, skill=2.0)] * 3, hours=1)
    assert "took 4 s in the median" in said(past, estimate_seconds=5.0)
    assert "shorter than they are" in said(past, estimate_seconds=1.5)
    assert "longer than they are" in said(past, estimate_seconds=15.0)


def test_fewer_attempts_tell_what_would_have_died() -> None:
    past = KindPast([ran(1)] * 3 + [ran(1, number=3)], hours=1)
    told = said(past, max_attempts=2)
    assert "25 % of the 4 tasks that were completed needed more than 2" in told
    assert "waits 2 s in all (now 6 s)" in told, "there is one delay less"


def test_more_attempts_tell_how_many_died_for_want_of_them() -> None:
    died = ran(1, Outcome.ERROR, dead_reason=DeadReason.EXHAUSTED)
    assert "1 tasks died with their 3 attempts" in said(KindPast([died], 1), max_attempts=5)


def test_a_retry_table_tells_which_errors_change_sides() -> None:
    errors = [ErrorFacts("ValueError", ""), ErrorFacts("HTTPError", "", status=404)]
    past = KindPast([ran(1, Outcome.ERROR, error=error) for error in errors], hours=1)
    told = said(past, permanent_errors=["ValueError"], retryable_errors=["HTTP 404"])
    assert "of 2 errors lately, 1 would become permanent (dead at once) and 1 would" in told


def test_a_retry_budget_tells_what_would_have_waited() -> None:
    past = KindPast([ran(1)] * 10 + [ran(1, number=2)] * 5, hours=1)
    assert "5 retries to 10 first attempts; 3 of them" in said(past, retry_budget=0.2)


def test_a_lower_bound_of_poison_tells_what_would_have_died_of_it() -> None:
    past = KindPast([], hours=0, downed=[1, 1, 2, 2, 2, 3])
    assert said(past, poison_after=2) == (
        "poison after 2: 4 of the 6 tasks that took workers down within a day would have been "
        "dead as poison (now 1)."
    )


def test_a_pause_tells_what_waits_and_what_goes_on() -> None:
    past = KindPast([], hours=0, waiting=312, in_flight=4)
    assert "312 tasks that wait would stay" in said(past, paused=True)


def test_what_is_not_changed_is_not_told() -> None:
    assert preview_kind(KindPast([ran(1)], 1), NOW, dict(NOW)) == []


class Instant(float):
    """An instant that counts how often it is held against the window's beginning."""

    looks = 0

    def __le__(self, other: float) -> bool:
        Instant.looks += 1
        return super().__le__(other)

    def __gt__(self, other: float) -> bool:
        Instant.looks += 1
        return super().__gt__(other)


def test_a_storm_of_failures_is_gone_through_once_however_wide_the_window() -> None:
    storm = [Instant(at) for at in range(2_000)]
    assert openings(storm, failures=10_000, window=86_400.0, open_for=1.0) == 0
    assert Instant.looks <= 2 * len(storm)


@given(
    st.lists(st.floats(0, 1000), max_size=30),
    st.integers(1, 5),
    st.floats(0.1, 100),
    st.floats(0.1, 100),
)
def test_a_breaker_never_opens_more_often_than_it_has_failures_for(
    failed_at: list[float], failures: int, window: float, open_for: float
) -> None:
    opened = openings(sorted(failed_at), failures, window, open_for)
    assert 0 <= opened <= len(failed_at) // failures


@given(st.lists(st.floats(0, 5000), max_size=20), st.floats(0.01, 5000))
def test_any_past_gives_sentences(runs: list[float], timeout: float) -> None:
    past = KindPast([ran(each) for each in runs], hours=1)
    changed = {**NOW, "timeout_seconds": timeout, "estimate_seconds": timeout, "max_attempts": 1}
    for sentence in preview_kind(past, NOW, changed):
        assert sentence.endswith(".")
        assert "nan" not in sentence


def floor_of(strategy: StrategyName) -> Snapshot:
    workers = [
        WorkerFacts(UUID(int=n), f"w{n}", slots=1, skills={"job": 2.0 if n == 1 else 1.0})
        for n in (1, 2, 3)
    ]
    ready = [TaskFacts(UUID(int=9 + n), "job", 0, float(n), 10.0) for n in range(9)]
    return Snapshot({"job": KindPolicy("job", strategy)}, workers, ready)


def test_a_strategy_is_compared_by_the_rounds_own_code() -> None:
    snapshot = floor_of(StrategyName.CAPABILITY)
    (told,) = preview_strategy(snapshot, ["job"], StrategyName.ROUND_ROBIN, made_up=False)
    assert told == (
        "strategy round robin: the 9 tasks that are ready would go to w1 3, w2 3, w3 3 (longest "
        "queue 30 s); now to w1 9, w2 0, w3 0 (longest queue 45 s)."
    )


@pytest.mark.parametrize(("stale_after", "lost"), [(40.0, 1), (20.0, 2)])
def test_a_shorter_patience_tells_whom_it_would_cost(stale_after: float, lost: int) -> None:
    settings = {"stale_after_seconds": stale_after, "heartbeat_seconds": 10.0}
    told = list(preview_stale_after(Silences([5, 25, 50], [75.0, 80.0], 24), settings, settings))
    assert f"of 3 workers {lost} are silent" in told[0]
    assert "2 of 2 near misses" in told[0]
    assert (len(told) == 2) is (stale_after < 30)


def test_a_cap_tells_what_must_end_first() -> None:
    before: dict[str, Any] = {"max_concurrent": None, "rate_per_second": None}
    before |= dict.fromkeys(BREAKER)
    told = preview_limit(
        LimitPast(in_flight=7, ready=120, started=360, hours=1),
        before,
        before | {"max_concurrent": 5.0, "rate_per_second": 0.5},
    )
    assert "so 2 must end" in told[0]
    assert "0.1 a second were handed out on average" in told[1]
    assert "takes 4 min" in told[1]


def test_a_limits_breaker_counts_the_failures_of_all_its_kinds() -> None:
    before: dict[str, Any] = {"max_concurrent": None, "rate_per_second": None}
    before |= {
        "breaker_failures": None,
        "breaker_window_seconds": 60.0,
        "breaker_open_seconds": 30.0,
        "breaker_counts_permanent": False,
    }
    past = LimitPast(0, 0, 0, hours=1, failed=[(at, False) for at in (0, 1, 2, 100, 101, 102, 103)])
    assert preview_limit(past, before, before | {"breaker_failures": 3}) == [
        "breaker 3 in 60 s: by the 7 failures lately it would have opened 2 times."
    ]
    refused = LimitPast(0, 0, 0, hours=1, failed=[(float(at), True) for at in range(9)])
    of_three = before | {"breaker_failures": 3}
    assert "0 failures lately" in preview_limit(refused, before, of_three)[0]
    counting = of_three | {"breaker_counts_permanent": True}
    assert "9 failures lately" in preview_limit(refused, of_three, counting)[0]
    gone = preview_limit(past, before | {"breaker_failures": 3}, before)
    assert gone == ["breaker: none; failures never pause its kinds."]


def test_a_backlog_tells_how_far_ahead_workers_would_be_and_are() -> None:
    ahead = Ahead(workers=3, slots=12, held=20, begun=9, beyond=8)
    assert preview_backlog(ahead, {"backlog": 1.0}, {"backlog": 0.5}) == (
        "backlog 0.5: 3 workers with 12 slots may hold 6 tasks beyond those (now 12); they hold 8 "
        "beyond them, and have not begun 11 of their 20. What they hold already stays with them."
    )
    told = preview_backlog(ahead, {"backlog": None}, {"backlog": 2.0})
    assert "may hold 24 tasks beyond those (now any number)" in told
    assert "stays" not in told
    assert "any number of tasks" in preview_backlog(ahead, {"backlog": 1.0}, {"backlog": None})


def test_a_tick_tells_how_many_rounds_come_of_it_and_what_waits_for_one() -> None:
    past = RoundsPast(rounds=3_700, longest=0.4, promoted=12, reclaimed=3)
    assert preview_tick(past, {"tick_seconds": 1.0}, {"tick_seconds": 5.0}) == (
        "tick 5 s: a quiet supervisor makes 720 rounds an hour (now 3,600); the 12 retries and 3 "
        "lost leases of the last hour would each have waited for one for up to 5 s (now 1 s)."
    )
    short = preview_tick(past, {"tick_seconds": 1.0}, {"tick_seconds": 0.1})
    assert short.endswith("The longest of 3,700 rounds took 0.4 s.")


def test_a_quarantine_tells_which_kinds_it_would_have_caught() -> None:
    before = {"quarantine_after": 3, "quarantine_window_seconds": 3600.0}
    poisoned = {"bad": [0.0, 10.0, 20.0], "slow": [0.0, 9_000.0], "fine": [5.0]}
    told = preview_quarantine(poisoned, before, before | {"quarantine_after": 2})
    assert "by the 6 poison tasks of the last day, it would have caught bad (now: bad)" in told
    wide = before | {"quarantine_after": 2, "quarantine_window_seconds": 86_400.0}
    assert "it would have caught bad, slow (now: bad)" in preview_quarantine(poisoned, before, wide)
    never = before | {"quarantine_after": 9}
    assert "caught no kind (now: bad)" in preview_quarantine(poisoned, before, never)
