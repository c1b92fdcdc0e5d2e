"""What is too large, too deep or without end is cut, says so, and costs little to find out."""

import json
import time
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from tasks_app.core.sanitise import MAX_BYTES, MAX_DEPTH, sanitise
from tests.core.values_made import Endless, is_storable


def test_a_value_that_contains_itself_is_cut_there() -> None:
    loop: list[Any] = [1]
    loop += [loop, loop]
    assert sanitise(loop) == [1, "[cut: contains itself]", "[cut: contains itself]"]


def test_the_same_value_twice_is_no_loop() -> None:
    shared = [1]
    assert sanitise([shared, shared]) == [[1], [1]]


def test_32_levels_are_kept_and_the_33rd_is_cut() -> None:
    value: Any = 7
    for _ in range(MAX_DEPTH):
        value = [value]
    assert sanitise(value) == value
    assert "deeper than 32 levels" in json.dumps(sanitise([value]))


def test_a_value_of_exactly_the_limit_is_kept_and_one_byte_more_is_cut() -> None:
    fits = ["x" * (MAX_BYTES - 6), 1]
    assert len(json.dumps(fits, separators=(",", ":"))) == MAX_BYTES
    assert sanitise(fits) == fits
    assert sanitise([fits[0], 12]) != [fits[0], 12]


def test_one_long_text_does_not_push_out_the_rest() -> None:
    stored = sanitise({"log": "x" * 10**7, "label": "refund"})
    assert stored["label"] == "refund"
    assert stored["log"].endswith("[cut: 10000000 characters in all]")


@pytest.mark.parametrize(
    ("value", "marker"),
    [
        (list(range(10**6)), "more items]"),
        ({f"key {number}": number for number in range(10**5)}, "more entries]"),
        (set(range(10**5)), "more items]"),
        (Endless(), "more items]"),
        ("\U0001f600" * 10**6, "[cut: 1000000 characters in all]"),
        ("\x01" * 10**6, "[cut: 1000000 characters in all]"),
        (b"x" * 10**7, "characters in all]"),
        ({"x" * 10**6: 1}, "[cut: 1000000 characters in all]"),
        ([["a" * 1000] * 1000] * 1000, "more items]"),
        ([{"a": ["x" * 70_000]}] * 9, "more items]"),
    ],
    ids=[
        "list",
        "mapping",
        "set",
        "endless",
        "emoji",
        "escapes",
        "bytes",
        "key",
        "nested",
        "texts",
    ],
)
def test_what_is_too_large_is_cut_says_so_and_is_found_out_quickly(
    value: object, marker: str
) -> None:
    began = time.process_time()
    stored = sanitise(value)
    assert time.process_time() - began < 2
    assert is_storable(stored)
    assert sanitise(stored) == stored
    text = json.dumps(stored)
    assert marker in text
    assert len(text) > MAX_BYTES / 8, "most of what fits is kept"


def test_a_large_array_is_not_unrolled_in_memory() -> None:
    def unroll() -> NoReturn:
        raise AssertionError("unrolled")

    array = SimpleNamespace(tolist=unroll, nbytes=10**10)
    assert sanitise(array).startswith("namespace(")
