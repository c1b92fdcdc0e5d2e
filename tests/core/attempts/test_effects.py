"""What an attempt may do about an effect that was begun before it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.attempts.effects import (
    EffectFacts,
    EffectState,
    EffectVerdict,
    IfUnsure,
    judge_effect,
    proves_undone,
)
from tasks_app.core.facts import ErrorFacts

tokens = st.integers(min_value=1, max_value=10)


@given(tokens, st.sampled_from(IfUnsure))
def test_an_effect_that_nobody_began_is_done(token: int, if_unsure: IfUnsure) -> None:
    assert judge_effect(None, token, if_unsure) is EffectVerdict.RUN


@given(tokens, tokens, st.sampled_from(IfUnsure))
def test_an_effect_that_is_done_is_never_done_again(
    token: int, by: int, if_unsure: IfUnsure
) -> None:
    found = EffectFacts(EffectState.DONE, by)
    assert judge_effect(found, token, if_unsure) is EffectVerdict.RECORDED


@given(tokens, tokens)
def test_only_another_attempts_start_is_in_doubt(token: int, by: int) -> None:
    found = EffectFacts(EffectState.STARTED, by)
    assert judge_effect(found, token, IfUnsure.RUN) is EffectVerdict.RUN
    unsure = judge_effect(found, token, IfUnsure.FAIL) is EffectVerdict.UNSURE
    assert unsure == (token != by)


@pytest.mark.parametrize(
    ("error", "undone"),
    [
        (ErrorFacts("ConnectionRefusedError", ""), True),
        (ErrorFacts("builtins.ConnectionRefusedError", ""), True),
        (ErrorFacts("socket.gaierror", "", bases=("OSError",)), True),
        (ErrorFacts("mail.Refused", "", bases=("httpx.ConnectError",)), True),
        (ErrorFacts("httpx.HTTPStatusError", "", status=422), True),
        (ErrorFacts("httpx.HTTPStatusError", "", status=429), True),
        (ErrorFacts("Busy", "", retryable=True), True),
        (ErrorFacts("NoAddress", "", permanent=True), True),
        (ErrorFacts("httpx.ReadTimeout", ""), False),
        (ErrorFacts("ConnectionResetError", "", bases=("ConnectionError",)), False),
        (ErrorFacts("TimeoutError", ""), False),
        (ErrorFacts("httpx.HTTPStatusError", "", status=408), False),
        (ErrorFacts("httpx.HTTPStatusError", "", status=409), False),
        (ErrorFacts("httpx.HTTPStatusError", "", status=502), False),
        (ErrorFacts("SystemExit", "", bases=("BaseException",)), False),
    ],
)
def test_only_errors_that_leave_no_doubt_prove_that_nothing_happened(
    error: ErrorFacts, undone: bool
) -> None:
    assert proves_undone(error) is undone
