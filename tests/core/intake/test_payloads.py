"""What comes from outside is checked before it is stored, and every fault has its place."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.intake.payloads import (
    LIMITS,
    MOST_FAULTS,
    PayloadLimits,
    check_payload,
    parse_json,
)


def faults_of(payload: object) -> list[str]:
    return [str(fault) for fault in check_payload(payload)]


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    "payload", [None, 7, "text", [], {}, {"a": [1, 2.5, None, True, {"b": "\U0001f600"}]}, (1, 2)]
)
def test_ordinary_json_has_no_fault(payload: object) -> None:
    assert check_payload(payload) == []


@pytest.mark.parametrize(
    ("payload", "fault"),
    [
        (math.nan, "$: NaN is no JSON number"),
        ([1, {"a": -math.inf}], "$[1].a: Infinity is no JSON number"),
        ({"rows": ["ok", "b\x00d"]}, "$.rows[1]: contains a NUL character"),
        ({"rows": {"b\x00d": 1}}, "$.rows: a key contains a NUL character"),
        (["\ud800"], "$[0]: contains half a surrogate pair"),
        ({"n": 10**400}, "$.n: an integer beyond the range of a double"),
        ({"a b": {1: 2}}, '$["a b"]: a key is an int, not text'),
        ({"when": {1}}, "$.when: a set is no JSON"),
        ([object()], "$[0]: an object is no JSON"),
        (nested(33), "$" + "[0]" * 32 + ": deeper than 32 levels"),
        ("x" * (LIMITS.max_bytes + 1), "$: larger than 256 KiB"),
        (["x" * 200_000, "x" * 200_000], "$: larger than 256 KiB"),
        (["\U0001f600" * 100_000], "$: larger than 256 KiB"),
        ({"x" * 300_000: 1}, "$: larger than 256 KiB"),
        ([0] * 20_000, "$: more than 10,000 values in all"),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) and ": " in value else "",
)
def test_a_fault_is_named_with_its_place(payload: object, fault: str) -> None:
    assert faults_of(payload) == [fault]


def test_every_fault_is_found_in_order() -> None:
    assert faults_of({"a": math.nan, "b": ["\x00", 1, {"c": math.inf}]}) == [
        "$.a: NaN is no JSON number",
        "$.b[0]: contains a NUL character",
        "$.b[2].c: Infinity is no JSON number",
    ]


def test_a_payload_full_of_faults_is_given_up_after_twenty() -> None:
    assert len(check_payload([math.nan] * 1000)) == MOST_FAULTS


def test_what_is_exactly_at_each_bound_passes() -> None:
    assert check_payload(nested(LIMITS.max_depth)) == []
    assert check_payload([0] * (LIMITS.max_nodes - 1)) == []
    assert check_payload("x" * (LIMITS.max_bytes - 2)) == []
    assert faults_of("x" * (LIMITS.max_bytes - 1)) == ["$: larger than 256 KiB"]


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop += [loop, loop]
    assert len(check_payload(loop)) in range(1, MOST_FAULTS + 1)


def test_other_limits_are_kept_too() -> None:
    small = PayloadLimits(max_bytes=10, max_depth=1, max_nodes=3)
    assert check_payload([1, 2], small) == []
    assert [fault.message for fault in check_payload([1, 2, 3], small)] == [
        "more than 3 values in all"
    ]


@given(
    st.recursive(
        st.none() | st.floats() | st.text(st.characters(categories=None)),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_passes_can_be_written_as_strict_json_and_read_back(payload: Any) -> None:
    if not check_payload(payload):
        text = json.dumps(payload, allow_nan=False, ensure_ascii=False)
        assert json.loads(text.encode()) == payload


class TestParseJson:
    def test_what_is_well_formed_is_read(self) -> None:
        assert parse_json(b'\xef\xbb\xbf{"a": 1}').value == {"a": 1}

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("", "line 1 column 1: no valid JSON: Expecting value"),
            ('{"a": 1,\n "b"}', "line 2 column 5: no valid JSON: Expecting ':' delimiter"),
            (b'{"a": "\xff"}', "byte 7: no valid UTF-8"),
            ("[" * 100_000, "$: deeper than 32 levels"),
            ("[" + "9" * 5000 + "]", "$: an integer beyond the range of a double"),
            ("[1e999]", "$[0]: Infinity is no JSON number"),
            ('["\\u0000"]', "$[0]: contains a NUL character"),
            ('["\\ud800"]', "$[0]: contains half a surrogate pair"),
            (" " * 2_000_000, "$: larger than 256 KiB"),
        ],
        ids=range(9),
    )
    def test_what_is_not_is_refused_with_its_place(self, text: str | bytes, fault: str) -> None:
        assert [str(found) for found in parse_json(text).faults] == [fault]

    @given(st.text() | st.binary())
    def test_no_text_makes_it_raise(self, text: str | bytes) -> None:
        parsed = parse_json(text)
        assert parsed.faults or check_payload(parsed.value) == []
