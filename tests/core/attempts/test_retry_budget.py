"""Credit for retries: what time adds to it."""

from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.attempts.retry_budget import FREE, MOST, credit_now, retries_allowed

amounts = st.floats(0, MOST)
ages = st.floats(0, 1e6)


@given(amounts, ages)
def test_time_never_takes_credit_and_never_saves_up_more_than_what_is_free(
    credit: float, age: float
) -> None:
    now = credit_now(credit, age)
    assert credit <= now <= max(credit, FREE)


@given(amounts, ages, ages)
def test_it_does_not_matter_how_often_it_is_asked(credit: float, one: float, two: float) -> None:
    at_once = credit_now(credit, one + two)
    in_turn = credit_now(credit_now(credit, one), two)
    assert abs(at_once - in_turn) < 1e-6


@given(amounts)
def test_a_used_up_budget_pays_for_a_retry_a_minute_later(credit: float) -> None:
    assert retries_allowed(credit_now(credit, 60)) >= 1


@given(st.lists(st.floats(0, 600), max_size=50))
def test_over_any_time_no_more_is_spent_than_the_free_ones_and_one_a_minute(
    pauses: list[float],
) -> None:
    credit, spent = FREE, 0
    for pause in pauses:
        credit = credit_now(credit, pause)
        spent += retries_allowed(credit)
        credit -= retries_allowed(credit)
    assert spent <= FREE + sum(pauses) / 60 + 1e-3


def test_ten_thousand_failures_are_tried_again_within_two_days_and_never_in_a_storm() -> None:
    waiting, credit, hours = 10_000, 0.0, 0
    while waiting and hours < 24 * 7:
        hours += 1
        before = waiting
        for _ in range(360):
            credit = credit_now(credit, age=10.0, waiting=waiting)
            tried = min(waiting, retries_allowed(credit))
            waiting, credit = waiting - tried, credit - tried
        assert before - waiting < 3600 / 2
    assert hours <= 48
