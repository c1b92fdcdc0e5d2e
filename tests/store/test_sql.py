"""What the store hands to PostgreSQL arrives as it was."""

import math
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.store import sql

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))

pytestmark = pytest.mark.usefixtures("db")


def back(literal: str, kind: str, length: int) -> list[object]:
    """What unnest makes of a literal beside an array of that length."""
    statement = f"SELECT x FROM unnest(%(a)s::{kind}[], array_fill(0, ARRAY[%(n)s])) AS i(x, n)"
    return [x for (x,) in sql.rows(statement, {"a": literal, "n": length})]


@given(st.lists(st.none() | TEXT | st.sampled_from(["NULL", "", "{", '"', "\\", ","]), min_size=1))
def test_texts_arrive_as_they_were(values: list[str | None]) -> None:
    assert back(sql.texts(values), "text", len(values)) == values


@given(st.lists(st.none() | st.floats(allow_nan=False), min_size=1))
def test_numbers_arrive_as_they_were(values: list[float | None]) -> None:
    assert back(sql.array(values), "float8", len(values)) == values
    assert back(sql.array([math.nan]), "float8", 1) != [None]


@given(st.lists(st.none() | st.booleans(), min_size=1))
def test_booleans_arrive_as_they_were(values: list[bool | None]) -> None:
    assert back(sql.array(values), "boolean", len(values)) == values


@given(st.lists(st.none() | st.uuids(), min_size=1))
def test_ids_arrive_as_they_were(values: list[UUID | None]) -> None:
    assert back(sql.uuids(values), "uuid", len(values)) == values


def test_a_statement_planned_by_key_leaves_the_rest_of_the_transaction_alone() -> None:
    shown = "SELECT current_setting('enable_seqscan'), current_setting('jit')"
    before = sql.rows(shown)
    assert sql.rows_by_key("SELECT current_setting('enable_seqscan'), %(n)s", {"n": 1}) == [
        ("off", 1)
    ]
    assert sql.rows(shown) == before
