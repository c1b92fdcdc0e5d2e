"""An error can be stored and read, whatever a handler raised."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.facts import ErrorFacts
from tasks_app.core.failures.error_text import MAX_MESSAGE, MAX_TRACEBACK, clean_error, shorten

nonsense: Any = st.none() | st.text(st.characters(categories=None)) | st.floats() | st.binary()


def test_a_long_message_and_traceback_keep_their_head_and_tail() -> None:
    message = "begin" + "x" * 10_000 + "end"
    traceback = "Traceback" + "y" * 100_000 + "KeyError: 7"
    cleaned = clean_error(ErrorFacts("E", message, traceback))
    assert len(cleaned.message) <= MAX_MESSAGE
    assert cleaned.message.startswith("beginx")
    assert cleaned.message.endswith("xend")
    assert len(cleaned.traceback) <= MAX_TRACEBACK
    assert cleaned.traceback.startswith("Traceback")
    assert cleaned.traceback.endswith("KeyError: 7")
    assert "[cut: " in cleaned.traceback


def test_an_error_within_its_bounds_is_left_alone() -> None:
    error = ErrorFacts("shop.E", "no", "at line 1", ["Exception"], 429, 2.5, retryable=True)
    assert clean_error(error) == error


@given(
    st.builds(
        ErrorFacts,
        *[nonsense] * 3,
        bases=st.lists(nonsense) | nonsense,
        status=nonsense,
        retry_after=nonsense,
        permanent=nonsense,
        retryable=nonsense,
    )
)
def test_any_error_becomes_storable(error: ErrorFacts) -> None:
    cleaned = clean_error(error)
    text = json.dumps(cleaned.as_json(), allow_nan=False, ensure_ascii=False)
    assert "\\u0000" not in text
    assert len(text.encode()) < 256 * 1024
    assert clean_error(cleaned) == cleaned


@pytest.mark.parametrize(
    ("status", "kept"), [(404, 404), (0, None), (999, None), ("404", None), (True, None)]
)
def test_a_status_that_is_none_is_dropped(status: Any, kept: int | None) -> None:
    assert clean_error(ErrorFacts("E", "", status=status)).status == kept


@pytest.mark.parametrize(
    ("asked", "kept"), [(5, 5.0), (math.nan, None), (-1, None), (math.inf, 1e9), ("5", None)]
)
def test_a_wait_that_is_none_is_dropped(asked: Any, kept: float | None) -> None:
    assert clean_error(ErrorFacts("E", "", retry_after=asked)).retry_after == kept


@given(st.text(), st.integers(0, 200))
def test_shortened_text_is_never_longer_than_asked(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    assert (short == text) == (len(text) <= limit)
