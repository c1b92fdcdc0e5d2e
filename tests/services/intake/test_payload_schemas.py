"""Both validators say the same of whatever the quick one is asked."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tasks_app.services.intake.payload_schemas import PayloadSchema

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "a", "ab", "\U0001f600"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
FEW = st.integers(0, 3)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
            "enum": st.lists(JSON, min_size=1, max_size=3),
            "const": JSON,
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "additionalProperties": inner,
            "items": inner,
            "minItems": FEW,
            "maxItems": FEW,
            "minProperties": FEW,
            "maxProperties": FEW,
            "minLength": FEW,
            "maxLength": FEW,
            "minimum": st.integers(-3, 3) | st.floats(-3, 3),
            "maximum": st.integers(-3, 3) | st.floats(-3, 3),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
        },
    )


SCHEMAS = st.recursive(st.booleans(), objects, max_leaves=4)


@given(schema=objects(SCHEMAS), payload=JSON)
def test_a_payload_passes_where_the_full_validator_finds_nothing(
    schema: dict[str, Any], payload: Any
) -> None:
    fault = PayloadSchema(schema).first_fault(payload)
    assert (fault is None) == Draft202012Validator(schema).is_valid(payload)


def test_what_the_two_may_judge_differently_is_left_to_the_full_one() -> None:
    digits = {"type": "string", "pattern": r"^\d$"}
    arabic = "\u0663"
    assert PayloadSchema(digits).first_fault(arabic) is None
    remote = PayloadSchema({"$ref": "https://example.org/schema.json"})
    fault = remote.first_fault({})
    assert fault is not None
    assert "refers to" in fault[2]
