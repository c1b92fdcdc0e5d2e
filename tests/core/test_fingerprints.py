"""Fingerprints: equal for the same fault, different for another, never a surprise."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.failures.fingerprints import (
    LENGTH,
    LONGEST_LINE,
    app_frame,
    fingerprint_of,
    normalise,
)
from tasks_app.core.states import DeadReason

TRACEBACK = """Traceback (most recent call last):
  File "/srv/v{n}/shop/desk.py", line {n}, in handle
    send(ticket)
  File "/srv/v{n}/shop/mail.py", line {n}1, in send
    client.post(url)
  File "/venv/lib/python3.11/site-packages/httpx/_api.py", line 304, in post
    raise error
"""

ERRORS = st.dictionaries(
    st.sampled_from(["type", "message", "traceback", "status"]),
    st.none() | st.text(max_size=300) | st.integers(),
)


def error(message: str = "no answer", kind: str = "TimeoutError", n: int = 7) -> dict[str, Any]:
    return {"type": kind, "message": message, "traceback": TRACEBACK.format(n=n)}


def key(found: dict[str, Any], reason: str = "exhausted") -> str:
    return fingerprint_of(found, reason).key


@given(ERRORS | st.none(), st.sampled_from(DeadReason) | st.text(max_size=20))
def test_whatever_was_stored_has_a_fingerprint(found: dict[str, Any] | None, reason: str) -> None:
    made = fingerprint_of(found, reason)
    assert len(made.key) == LENGTH
    assert set(made.key) <= set("0123456789abcdef")
    assert len(made.line) <= LONGEST_LINE
    assert "\n" not in made.line
    assert made == fingerprint_of(found, reason)


@given(st.text(max_size=400))
def test_what_was_made_equal_stays_as_it_is(line: str) -> None:
    once = normalise(line)
    assert normalise(once) == once


@given(st.integers(min_value=0), st.integers(min_value=0), st.uuids(), st.uuids())
def test_figures_and_ids_do_not_tell_two_errors_apart(a: int, b: int, one: Any, two: Any) -> None:
    text = "ticket {} of customer {} at /var/spool/{}/mail: 0x{:x} after {}.5 s"
    assert key(error(text.format(a, one, one, a, a), n=a)) == key(
        error(text.format(b, two, two, b, b), n=b)
    )


@given(st.sampled_from(DeadReason), st.sampled_from(["permanent", "exhausted"]))
def test_another_class_message_or_frame_is_another_fault(reason: str, by_error: str) -> None:
    assert key(error(), by_error) != key(error(kind="KeyError"), by_error)
    assert key(error("no answer"), by_error) != key(error("no route"), by_error)
    moved = {**error(), "traceback": TRACEBACK.replace("in send", "in fetch")}
    assert key(error(), by_error) != key(moved, by_error)


def test_a_line_that_moved_within_its_function_is_the_same_fault() -> None:
    assert key(error(n=7)) == key(error(n=4711))


def test_where_no_error_is_the_cause_the_reason_is() -> None:
    for reason in ("poison", "deadline", "dependency", "unroutable"):
        assert fingerprint_of(error(), reason) == fingerprint_of(error("x", "Y"), reason)
        assert fingerprint_of(error(), reason).name == reason


def test_the_frame_is_the_innermost_of_the_application() -> None:
    assert app_frame(TRACEBACK.format(n=3)) == "shop/mail.py:send"
    assert app_frame("no traceback at all") == ""
    group = "  | Traceback (most recent call last):\n" + TRACEBACK.format(n=1).replace(
        "  File", "  |   File"
    )
    assert app_frame(group) == "shop/mail.py:send"


def test_a_long_line_is_no_way_to_keep_the_supervisor_busy() -> None:
    for line in ("/a" * 100_000, "a@" * 100_000, "1." * 100_000, "f" * 200_000, "-" * 100_000):
        assert len(normalise(line)) <= LONGEST_LINE


@given(st.text(alphabet="ab@.-+ ", max_size=60))
def test_an_address_is_found_wherever_it_stands(line: str) -> None:
    found = re.sub(r"[\w.+-]+@[\w-]+\.[\w.-]+", "<email>", line)
    assert normalise(line) == " ".join(found.split())
