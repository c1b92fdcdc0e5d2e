"""One reader of JSON for every door: what is read in two ways elsewhere is refused here."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.strict_json import JsonRefused, read_strict


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ('{"a": 1, "a": 2}', "line 1", 'the key "a" stands twice in one object, first on line 1'),
        ('{"b": {"a": 1,\n\n"a": 2}}', "line 3", "first on line 1"),
        ('[{"a": 1}, {"a": 1, "\\u0061": 2}]', "line 1", '"a" stands twice'),
        ('{"a": "{\\"a\\": 1", "b": [":", "}"],\n "b": 1}', "line 2", '"b" stands twice'),
        ("[NaN]", "", "NaN is no JSON number"),
        ("[-Infinity]", "", "-Infinity is no JSON number"),
        ("[1_000]", "line 1 column 3", "no valid JSON"),
        ("[01]", "line 1 column 3", "no valid JSON"),
        ("['a']", "line 1 column 2", "no valid JSON"),
        ("[1,]", "line 1 column", "no valid JSON"),
        ("[" * 100_000, "", "nested too deep"),
        ("9" * 5000, "", "beyond the range of a double"),
    ],
    ids=range(12),
)
def test_what_is_refused_is_told_with_its_place(text: str, place: str, said: str) -> None:
    with pytest.raises(JsonRefused) as refused:
        read_strict(text)
    assert refused.value.place.startswith(place)
    assert said in str(refused.value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_what_stands_once_is_read_as_json_has_it(value: object) -> None:
    assert read_strict(json.dumps(value, indent=1)) == value


@given(st.text(max_size=20), VALUES, VALUES)
def test_a_key_that_stands_twice_is_told_with_both_lines(
    key: str, before: object, value: object
) -> None:
    quoted, told = json.dumps(key), json.dumps(value)
    text = f"[{json.dumps(before)},\n{{{quoted}: {told},\n\n{quoted}: {told}}}]"
    with pytest.raises(JsonRefused, match="first on line 2") as refused:
        read_strict(text)
    assert refused.value.place == "line 4"
