"""Exceptions of every kind become facts, and none of them gets in the way."""

import io
import urllib.error
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.failures.error_text import MAX_MESSAGE, MAX_TRACEBACK
from tasks_app.sdk.handlers import PermanentError, RetryableError
from tasks_app.sdk.outcomes.errors import crashed, describe, timed_out


def raised(error: BaseException) -> BaseException:
    """The error as one that was raised, with a traceback."""
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001  handlers raise anything
        return caught


def http_error(status: int, **headers: str) -> httpx.HTTPStatusError:
    request = httpx.Request("GET", "http://127.0.0.1/")
    response = httpx.Response(status, headers=headers, request=request)
    return httpx.HTTPStatusError("refused", request=request, response=response)


class Hostile(Exception):
    """Raises whatever is asked of it."""

    def __str__(self) -> str:
        raise SystemExit("no")

    @property
    def response(self) -> Any:
        raise RuntimeError("no")

    @property
    def retry_after(self) -> Any:
        raise KeyboardInterrupt


def test_facts_hold_class_ancestors_message_and_traceback() -> None:
    facts = describe(raised(FileNotFoundError(2, "No such file")))
    assert facts.type == "FileNotFoundError"
    assert list(facts.bases) == ["OSError", "Exception", "BaseException"]
    assert "No such file" in facts.message
    assert "in raised" in facts.traceback


def test_class_of_a_module_is_dotted() -> None:
    assert describe(http_error(500)).type == "httpx.HTTPStatusError"


def test_permanence_is_the_declaration_or_the_raise() -> None:
    assert describe(KeyError("x"), (KeyError,)).permanent
    assert describe(PermanentError("x")).permanent
    assert not describe(KeyError("x")).permanent
    assert describe(RetryableError("x", retry_after=7)).retryable
    assert describe(RetryableError("x", retry_after=7)).retry_after == 7


def test_status_and_retry_after_are_found_on_a_response() -> None:
    facts = describe(http_error(429, **{"retry-after": "12"}))
    assert (facts.status, facts.retry_after) == (429, 12.0)


def test_status_and_retry_after_are_found_on_urllibs_error() -> None:
    headers = Message()
    headers["Retry-After"] = "3"
    with urllib.error.HTTPError("http://x", 503, "busy", headers, io.BytesIO()) as error:
        facts = describe(error)
    assert (facts.status, facts.retry_after) == (503, 3.0)


def test_retry_after_may_be_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    wait = describe(http_error(503, **{"retry-after": date})).retry_after
    assert wait is not None
    assert 50 < wait <= 60


@pytest.mark.parametrize("value", ["soon", "", "nan", "inf", "-5"])
def test_retry_after_that_is_none_is_left_out_or_zero(value: str) -> None:
    assert not describe(http_error(503, **{"retry-after": value})).retry_after


def test_exit_code_is_no_http_status() -> None:
    assert describe(SystemExit(404)).status is None


def test_hostile_exception_is_still_reported() -> None:
    facts = describe(raised(Hostile()))
    assert facts.type.endswith("Hostile")
    assert facts.message == "[the message cannot be read]"
    assert facts.status is None
    assert facts.retry_after is None


def test_chained_causes_are_in_the_traceback() -> None:
    try:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise ValueError("outer") from error
    except ValueError as caught:
        facts = describe(caught)
    assert "inner" in facts.traceback
    assert facts.message == "outer"


@given(st.text(max_size=50).map(lambda text: text * 200))
def test_text_is_bounded_and_storable(text: str) -> None:
    facts = describe(raised(ValueError(text)))
    assert len(facts.message) <= MAX_MESSAGE
    assert len(facts.traceback) <= MAX_TRACEBACK
    (facts.message + facts.traceback).encode()
    assert "\0" not in facts.message + facts.traceback


def test_timeout_is_a_timeout_error_to_every_table() -> None:
    assert "TimeoutError" in timed_out(1.5).bases


@pytest.mark.parametrize(
    ("code", "said"),
    [(-11, "SIGSEGV"), (-250, "signal 250"), (3, "code 3"), (None, "closed its link")],
)
def test_crash_says_how_the_child_ended(code: int | None, said: str) -> None:
    assert said in crashed(code).message
