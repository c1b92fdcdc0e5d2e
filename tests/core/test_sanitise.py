"""Whatever a handler returns can be stored; nothing it returns can make the record fail."""

import dataclasses
import json
import math
import time
from collections import OrderedDict, UserString, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any, NoReturn
from unittest.mock import MagicMock
from uuid import UUID

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.embedded import Server
from tasks_app.core.payloads import PayloadLimits, check_payload
from tasks_app.core.sanitise import MAX_BYTES, MAX_DEPTH, clean_text, sanitise

STORABLE = PayloadLimits(MAX_BYTES, MAX_DEPTH, max_nodes=10**9)


def is_storable(value: Any) -> bool:
    """By the check at the door, and by the encoder that writes it."""
    json.dumps(value, allow_nan=False)
    return check_payload(value, STORABLE) == []


class Raises:
    """Raises whatever is done with it."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __str__(self) -> str:
        raise RuntimeError("str")


class Endless(Sequence[int]):
    """A sequence without end that claims a length."""

    def __len__(self) -> int:
        return 10**12

    def __getitem__(self, at: Any) -> Any:
        return at


class BrokenMapping(Mapping[str, int]):
    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[str]:
        yield "a"
        raise RuntimeError("torn")

    def __getitem__(self, key: str) -> int:
        return 1


class Deep:
    """Each repr asks for the next, without end."""

    def __repr__(self) -> str:
        return repr(Deep())


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Word(StrEnum):
    YES = "yes"


@dataclasses.dataclass
class Verdict:
    label: str
    when: date


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(categories=None))
    | st.binary()
    | st.datetimes()
    | st.timedeltas()
    | st.decimals()
    | st.fractions()
    | st.uuids()
    | st.complex_numbers()
    | st.sampled_from([Colour.RED, Raises])
    | st.builds(Raises)
    | st.builds(Endless)
    | st.builds(BrokenMapping)
    | st.builds(Deep)
    | st.builds(Verdict, st.text(), st.dates()),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.frozensets(st.integers() | st.text() | st.floats() | st.none())
        | st.dictionaries(st.text() | st.integers() | st.none() | st.floats() | st.dates(), inner)
    ),
)

plain_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**1000), 2**1000)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])), inner
        )
    ),
)


@given(anything)
def test_anything_becomes_storable_and_stays_as_it_is_the_second_time(value: object) -> None:
    stored = sanitise(value)
    assert is_storable(stored)
    assert sanitise(stored) == stored


@given(plain_json)
def test_json_that_is_clean_comes_back_unchanged(value: Any) -> None:
    assert sanitise(value) == value


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("a\x00b", "a\ufffdb"),
        ("\ud800", "\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (10**400, hex(10**400)),
        (True, True),
        (datetime(2026, 11, 29, 1, 2, 3, tzinfo=UTC), "2026-11-29T01:02:03+00:00"),
        (timedelta(minutes=1.5), 90.0),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.10"), "1.10"),
        (Decimal("NaN"), "NaN"),
        (Fraction(1, 3), "1/3"),
        (b"\x00\xff", "AP8="),
        (bytearray(b"a"), "YQ=="),
        (memoryview(b"a"), "YQ=="),
        (PurePosixPath("a/b"), "a/b"),
        (UserString("ab"), "ab"),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (Word.YES, "yes"),
        (Verdict("x", date(2026, 1, 2)), {"label": "x", "when": "2026-01-02"}),
        ((1, "a"), [1, "a"]),
        (deque([1]), [1]),
        (range(3), [0, 1, 2]),
        ({3, 1, 2.5}, [1, 2.5, 3]),
        (frozenset({"b", "a", 1, None}), [1, None, "a", "b"]),
        (OrderedDict(a=1).values(), [1]),
        (
            {1: "a", None: "b", False: "c", 1.5: "d", Colour.RED: "e"},
            {"1": "a", "null": "b", "false": "c", "1.5": "d", "red": "e"},
        ),
        (SimpleNamespace(tolist=lambda: [1, [2]]), [1, [2]]),
        (SimpleNamespace(model_dump=lambda: {"a": UUID(int=0)}), {"a": str(UUID(int=0))}),
        (complex(1, 2), "(1+2j)"),
        (ValueError("x"), "ValueError('x')"),
    ],
    ids=repr,
)
def test_what_is_no_json_is_converted(value: object, stored: Any) -> None:
    assert sanitise(value) == stored
    assert type(sanitise(value)) is type(stored)


def test_keys_that_become_the_same_text_are_both_kept() -> None:
    assert sanitise({1: "a", "1": "b", "x\x00": "c", "x\ufffd": "d"}) == {
        "1": "a",
        "1'": "b",
        "x\ufffd": "c",
        "x\ufffd'": "d",
    }


def test_an_object_that_cannot_be_read_is_named_and_the_rest_is_kept() -> None:
    assert sanitise({"bad": Raises(), "good": 1}) == {
        "bad": "[cut: Raises cannot be read: RuntimeError]",
        "good": 1,
    }


@pytest.mark.parametrize("make", [Raises, BrokenMapping, Deep, MagicMock, lambda: iter([1])])
def test_no_object_makes_it_raise(make: Callable[[], object]) -> None:
    value = make()
    assert is_storable(sanitise([value, {"inside": value}]))


def test_an_object_that_lies_about_its_class_does_not_either() -> None:
    def lie(_: object) -> NoReturn:
        raise RuntimeError("class")

    # Made here: a class like this in the module would break what collects the tests.
    false_class = type("FalseClass", (), {"__class__": property(lie)})
    assert sanitise(false_class()) == "[cut: FalseClass cannot be read: RuntimeError]"


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


def test_a_set_is_stored_the_same_way_in_every_process() -> None:
    # Strings hash differently in each process, and so come out of a set in another order.
    text = [f"word {number:02}" for number in range(50)]
    assert sanitise(set(text)) == text


@given(st.text(st.characters(categories=None)))
def test_clean_text_can_be_encoded_and_only_what_is_unstorable_changes(text: str) -> None:
    cleaned = clean_text(text)
    assert "\x00" not in cleaned
    cleaned.encode()
    assert clean_text(cleaned) == cleaned


def test_postgresql_stores_what_it_would_refuse_as_it_came(postgres: Server) -> None:
    values: list[Any] = [
        {"a\x00": "b\x00", "\ud800": "\udfff", "n": [math.nan, math.inf, 10**309, 1e-320]},
        "x" * MAX_BYTES * 2,
        [Raises(), Colour.RED, {1, "a"}, -0.0, 2**1023],
    ]
    with psycopg.connect(postgres.url("postgres")) as connection:
        for value in values:
            text = json.dumps(sanitise(value))
            row = connection.execute("SELECT %s::jsonb", [text]).fetchone()
            assert row is not None
            assert row[0] == json.loads(text)
        with pytest.raises(psycopg.errors.UntranslatableCharacter):
            connection.execute("SELECT %s::jsonb", [json.dumps("\x00")])
