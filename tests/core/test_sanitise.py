"""Whatever a handler returns can be stored; nothing it returns can make the record fail."""

import json
import math
from collections import OrderedDict, UserString, deque
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
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
from tasks_app.core.sanitise import MAX_BYTES, clean_text, sanitise
from tests.core.values_made import (
    BrokenMapping,
    Colour,
    Deep,
    Endless,
    Level,
    Quits,
    Raises,
    Verdict,
    Word,
    is_storable,
)

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


@pytest.mark.parametrize("make", [Raises, BrokenMapping, Quits, Deep, MagicMock, lambda: iter([1])])
def test_no_object_makes_it_raise(make: Callable[[], object]) -> None:
    value = make()
    assert is_storable(sanitise([value, {"inside": value}]))


def test_an_object_that_lies_about_its_class_does_not_either() -> None:
    def lie(_: object) -> NoReturn:
        raise RuntimeError("class")

    # Made here: a class like this in the module would break what collects the tests.
    false_class = type("FalseClass", (), {"__class__": property(lie)})
    assert sanitise(false_class()) == "[cut: FalseClass cannot be read: RuntimeError]"


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
