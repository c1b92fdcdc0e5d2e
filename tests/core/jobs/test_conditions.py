"""Conditions on earlier results, and the references that they and payloads are made of."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.faults import Fault
from tasks_app.core.jobs.conditions import DEEPEST, MOST, check_condition, holds, same
from tasks_app.core.jobs.references import Missing, Scope, assemble, substitute

SCOPE = Scope(
    {"look": {"sure": 0.7, "label": "card", "ok": True, "rows": [1, {"n": 2}], "none": None}}
)


def where(path: str, **test: Any) -> dict[str, Any]:
    return {"$result": f"look.{path}", **test}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (where("label", equals="card"), True),
        (where("ok", equals=1), False),
        (where("sure", equals=0.70), True),
        (where("rows.1", equals={"n": 2.0}), True),
        (where("label", **{"in": ["cash", "card"]}), True),
        (where("label", **{"in": []}), False),
        (where("sure", greater=0.7), False),
        (where("sure", greater=0.6), True),
        (where("sure", less=1), True),
        (where("label", less="d"), True),
        (where("label", less=5), False),
        (where("ok", greater=0), False),
        (where("none", exists=True), True),
        (where("gone", exists=True), False),
        (where("gone", exists=False), True),
        (where("gone", equals=None), False),
        (where("gone", default=3, greater=2), True),
        (where("gone", less=1), False),
        ({"not": where("gone", equals=1)}, True),
        (where("label", equals={"$result": "look.label"}), True),
        (where("label", equals={"$result": "look.gone"}), False),
        ({"and": [where("ok", equals=True), where("sure", less=0.5)]}, False),
        ({"or": [where("ok", equals=True), where("sure", less=0.5)]}, True),
    ],
)
def test_conditions_decide_as_written(condition: dict[str, Any], expected: bool) -> None:
    assert not [each for _, each in check_condition(condition, "when") if isinstance(each, Fault)]
    assert holds(condition, SCOPE) is expected


@pytest.mark.parametrize(
    ("condition", "place"),
    [
        ("sure", "when"),
        ({}, "when"),
        ({"$result": "look"}, "when"),
        ({"$result": "look", "equals": 1, "less": 2}, "when"),
        ({"equals": 1}, "when"),
        ({"and": []}, "when"),
        ({"and": [1]}, "when.and[0]"),
        ({"not": {"or": [{"not": None}]}}, "when.not.or[0].not"),
        ({"and": [where("a", exists=True)], "or": []}, "when"),
        (where("a", exists="yes"), "when.exists"),
        (where("a", less=True), "when.less"),
        (where("a", **{"in": "abc"}), "when.in"),
        ({"$result": "look..a", "equals": 1}, "when"),
        (where("a", equals={"$result": 3}), "when.equals"),
    ],
)
def test_a_malformed_condition_is_told_with_its_place(condition: object, place: str) -> None:
    found = [each for _, each in check_condition(condition, "when") if isinstance(each, Fault)]
    assert [fault.place for fault in found] == [place]


def test_conditions_have_bounds() -> None:
    deep: Any = where("a", exists=True)
    for _ in range(DEEPEST):
        deep = {"not": deep}
    wide = {"or": [where("a", exists=True)] * (MOST + 50)}
    for condition in (deep, wide):
        found = [each for _, each in check_condition(condition, "w") if isinstance(each, Fault)]
        assert len(found) == 1


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(plain)
def test_data_without_references_comes_through_unchanged(value: Any) -> None:
    assert same(substitute(value, Scope({})), value)
    assert same(substitute({"$literal": value}, Scope({})), value)


@given(plain)
def test_a_reference_brings_the_whole_value(value: Any) -> None:
    scope = Scope({"s": {"v": value}}, item=value, has_item=True)
    assert same(substitute([{"$result": "s.v"}, {"$item": ""}], scope), [value, value])


def test_what_a_reference_does_not_find_is_said_or_null() -> None:
    for path, told in {
        "look.rows.7": "the result of look.rows has no 7",
        "look.rows.x": "the result of look.rows has no x",
        "look.none.x": "the result of look.none has no x",
        "other.x": "step other has no result",
    }.items():
        with pytest.raises(Missing, match=told):
            substitute({"$result": path}, SCOPE)
        assert assemble([{"$result": path}], SCOPE) == [None]
        assert substitute({"$result": path, "default": 5}, SCOPE) == 5
