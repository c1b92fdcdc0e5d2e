"""Changes between two JSON values: all of them, at their places, and nothing else."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.actions.json_changes import ABSENT, list_changes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert list_changes(value, value) == []


@given(JSON, JSON)
def test_a_change_is_told_both_ways(before: Any, after: Any) -> None:
    there = list_changes(before, after)
    back = list_changes(after, before)
    assert {(c.place, repr(c.before), repr(c.after)) for c in there} == {
        (c.place, repr(c.after), repr(c.before)) for c in back
    }
    for change in there:
        assert not (change.before is ABSENT and change.after is ABSENT)


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4), st.text(max_size=4), JSON)
def test_a_key_that_is_set_is_the_only_place_that_changes(
    before: dict[str, Any], key: str, value: Any
) -> None:
    changes = list_changes(before, {**before, key: value})
    places = {change.place for change in changes}
    assert all(key in place or repr(key) in place for place in places)


def test_true_is_not_one() -> None:
    (change,) = list_changes({"sure": True}, {"sure": 1})
    assert change.as_json() == {"place": "$.sure", "before": True, "after": 1}


def test_what_is_told_is_bounded() -> None:
    assert len(list_changes(list(range(500)), list(range(1, 501)))) == 200
