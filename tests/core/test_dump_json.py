"""The text that is stored: the short way through flat objects says what the long way says."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.intake.payloads import PayloadLimits, check_payload, dump_json

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers().map(lambda n: n * 2**1020)
    | st.floats()
    | st.text()
    | st.sampled_from(["\x00", "a\ud800", "\\u0000", "\\\x00", "x" * 70])
)
flat = st.dictionaries(st.text() | st.sampled_from(["\x00", "\udc80", 1]), scalars, max_size=5)
limits = st.builds(
    PayloadLimits,
    max_bytes=st.integers(1, 200),
    max_depth=st.integers(0, 2),
    max_nodes=st.integers(1, 8),
)


@given(flat, limits)
def test_a_flat_object_is_judged_as_if_it_lay_in_a_list(value: Any, limits: PayloadLimits) -> None:
    """A list is always walked, and brings one level, one value and two bytes of its own."""
    wider = PayloadLimits(limits.max_bytes + 2, limits.max_depth + 1, limits.max_nodes + 1)
    assert bool(dump_json(value, limits).faults) == bool(dump_json([value], wider).faults)


@given(flat)
def test_what_has_no_fault_is_compact_json_of_the_same_value(value: Any) -> None:
    dumped = dump_json(value)
    assert dumped.faults == check_payload(value)
    if dumped.faults:
        assert dumped.text == ""
    else:
        assert json.loads(dumped.text) == value
        assert dumped.text == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("text", ["\\u0000", "a\\\\u0000b"])
def test_a_backslash_that_only_looks_like_a_nul_is_kept(text: str) -> None:
    assert json.loads(dump_json({"a": text}).text) == {"a": text}
