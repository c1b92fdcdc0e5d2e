"""Forms made from schemas: what is drawn, what is read back, and what the buttons are."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.drawing.result_forms import WHOLE, FieldKind, ResultForm, make_form, read_form
from tasks_app.core.literals import plain


def form_of(required: tuple[str, ...] = (), **properties: Any) -> ResultForm:
    return make_form({"type": "object", "properties": properties, "required": list(required)})


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, FieldKind.LINE),
        ({"type": "string", "maxLength": 200}, FieldKind.LINE),
        ({"type": "string", "maxLength": 201}, FieldKind.TEXT),
        ({"type": "string", "format": "text"}, FieldKind.TEXT),
        ({"type": "integer"}, FieldKind.INTEGER),
        ({"type": "number"}, FieldKind.NUMBER),
        ({"type": "boolean"}, FieldKind.BOOLEAN),
        ({"enum": ["a", 1, True]}, FieldKind.CHOICE),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, FieldKind.CHOICES),
        ({"type": "array", "items": {"type": "string"}}, FieldKind.JSON),
        ({"type": "array"}, FieldKind.JSON),
        ({"type": "object"}, FieldKind.JSON),
        ({"enum": [None, {"a": 1}]}, FieldKind.JSON),
        ({"type": ["string", "null"]}, FieldKind.JSON),
        ({"$ref": "#/$defs/x"}, FieldKind.JSON),
        ({}, FieldKind.JSON),
        (True, FieldKind.JSON),
    ],
)
def test_each_property_is_drawn_as_what_it_is(schema: Any, kind: FieldKind) -> None:
    (field,) = form_of(it=schema).fields
    assert field.kind is kind


@pytest.mark.parametrize("schema", [None, True, {}, {"type": "string"}, {"type": "object"}])
def test_what_is_no_object_with_properties_is_one_field_of_json(schema: Any) -> None:
    form = make_form(schema)
    assert [(field.name, field.kind) for field in form.fields] == [(WHOLE, FieldKind.JSON)]
    assert read_form(form, {WHOLE: ["[1, 2]"]}) == ([1, 2], {})
    assert read_form(form, {WHOLE: ["NaN"]})[1] == {
        WHOLE: 'Write JSON, such as {"name": [1, 2]}. This is not read: NaN is no JSON number.'
    }
    assert read_form(form, {}) == (None, {WHOLE: "Fill this in."})


def test_approved_and_decision_are_buttons_where_they_must_be_given() -> None:
    form = form_of(("approved",), approved={"type": "boolean"}, why={"type": "string"})
    assert form.verdict is not None
    assert [choice.label for choice in form.verdict.choices] == ["Approve", "Reject"]
    assert [field.name for field in form.fields] == ["why"]
    assert read_form(form, {"approved": ["false"], "why": [""]}) == ({"approved": False}, {})
    decision = {"enum": ["approve", "reject", "escalate"]}
    more = form_of(("decision",), decision=decision)
    assert more.verdict is not None
    assert [choice.label for choice in more.verdict.choices] == ["Approve", "Reject", "Escalate"]
    assert form_of(approved={"type": "boolean"}).verdict is None
    assert form_of(("decision",), decision={"enum": ["approve", "later"]}).verdict is None


def test_what_must_be_given_comes_first_in_its_own_order_then_the_rest_as_told() -> None:
    text = {"type": "string"}
    form = form_of(
        ("z", "b"),
        a=text,
        b=text,
        z=text,
        y={**text, "propertyOrder": 2},
        x=text,
    )
    assert [field.name for field in form.fields] == ["z", "b", "y", "a", "x"]


def test_a_field_that_must_be_filled_in_says_so_and_one_that_need_not_is_left_out() -> None:
    form = form_of(("name",), name={"type": "string"}, age={"type": "integer"})
    assert read_form(form, {"name": ["  "], "age": [""]}) == ({}, {"name": "Fill this in."})


def test_a_choice_that_was_not_offered_is_refused() -> None:
    form = form_of(colour={"enum": ["red"]})
    assert read_form(form, {"colour": ['"blue"']})[1] == {
        "colour": """'"blue"' is not offered here."""
    }


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip)
PROPERTIES: dict[str, tuple[dict[str, Any], st.SearchStrategy[Any]]] = {
    "text": ({"type": "string", "format": "text"}, TEXTS),
    "line": ({"type": "string"}, TEXTS.map(str.strip)),
    "whole": ({"type": "integer"}, st.integers()),
    "part": ({"type": "number"}, st.floats(-1e15, 1e15)),
    "yes": ({"type": "boolean"}, st.booleans()),
    "one": ({"enum": ["a", 2, True]}, st.sampled_from(["a", 2, True])),
    "many": (
        {"type": "array", "items": {"enum": ["a", "b", "c"]}},
        st.lists(st.sampled_from("abc"), unique=True, min_size=1),
    ),
    "tree": ({"type": "object"}, st.dictionaries(TEXTS, st.integers() | st.none())),
}
FORM = make_form(
    {"type": "object", "properties": {name: schema for name, (schema, _) in PROPERTIES.items()}}
)


def typed(field: str, value: Any) -> list[str]:
    """What a person's browser sends for a value."""
    if field in ("text", "line"):
        return [value]
    if field == "yes":
        return ["on"] if value else []
    if field == "part":
        return [plain(value)]
    return [json.dumps(each) for each in value] if field == "many" else [json.dumps(value)]


@given(st.fixed_dictionaries({name: values for name, (_, values) in PROPERTIES.items()}))
def test_what_is_filled_in_is_what_is_read(result: dict[str, Any]) -> None:
    texts = {name: typed(name, value) for name, value in result.items()}
    read, faults = read_form(FORM, texts)
    assert faults == {}
    assert read == result
    assert {name: type(value) for name, value in read.items()} == {
        name: type(value) for name, value in result.items()
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(
    schema=JSON | st.fixed_dictionaries({"type": st.just("object"), "properties": JSON}),
    texts=st.dictionaries(st.text(), st.lists(st.text())),
)
def test_no_schema_and_no_text_breaks_a_form(schema: Any, texts: dict[str, list[str]]) -> None:
    form = make_form(schema)
    names = [field.name for field in form.every_field]
    assert names
    assert len(set(names)) == len(names)
    read, faults = read_form(form, texts | {name: ["1x"] for name in names})
    assert all(faults.values())
    assert set(faults) <= set(names)
    if names != [WHOLE]:
        assert {*read, *faults} == set(names)
