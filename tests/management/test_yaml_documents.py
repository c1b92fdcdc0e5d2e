"""YAML files: the core schema of YAML 1.2, keys once, and what is written reads back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.management.yaml_documents import YamlRefused, read_yaml, write_yaml


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("NO", "NO"),
        ("yes", "yes"),
        ("off", "off"),
        ("y", "y"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("null", None),
        ("", None),
        ("01234", 1234),
        ("010", 10),
        ("08", 8),
        ("0o10", 8),
        ("0x1F", 31),
        ("0b11", "0b11"),
        ("12_34", "12_34"),
        ("12:30", "12:30"),
        ("190:20:30", "190:20:30"),
        ("2030-01-31", "2030-01-31"),
        ("2030-01-31T08:00:00Z", "2030-01-31T08:00:00Z"),
        ("1e5", 100000.0),
        ("-.5", -0.5),
        ("+12", 12),
        (".inf", float("inf")),
        ("-.INF", float("-inf")),
        ("=", "="),
        ("\uff11\uff12", "\uff11\uff12"),
        ("!!str 12", "12"),
        ("!!float 12", 12.0),
        ("'12'", "12"),
    ],
)
def test_a_plain_word_means_what_the_core_schema_says(word: str, value: Any) -> None:
    (read,) = read_yaml(f"- {word}")
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3", r'line 3: a key stands twice in one mapping: "a", first on line 1'),
        ("steps:\n- {payload: 1, payload: 2}", 'line 2: .*"payload", first on line 2'),
        ('a: 1\n"a": 2', 'line 2: .*"a"'),
        ("b: &b {x: 1}\nc:\n  <<: *b\n  x: 2\n  x: 3", 'line 5: .*"x", first on line 4'),
        ("b: &b {x: 1}\nc:\n  <<: *b\n  <<: *b", "line 4: .*<<.*line 3"),
        ("c:\n  <<: 7", "line 2: << takes a mapping"),
        ("1: a", "line 1: the key 1 is not text; put it in quotes"),
        ("yes: 1\ntrue: a", "line 2: the key true is not text"),
        ("? [a]\n: 1", "line 1: the key is not text"),
        ("a: !!binary aGk=", "the tag !!binary is not read here"),
        ("a: !!timestamp 2030-01-31", "the tag !!timestamp is not read here"),
        ("!!python/object/apply:os.system [ls]", "no valid YAML: line 1: the tag"),
        ("a: !!int x", "does not fit its tag !!int"),
        ("a: &a [*a]", "an alias stands for what it is part of"),
        ("a: 1\n---\na: 2", "single document"),
        ("[" * 5000, "nested too deep"),
        ("a: [", "no valid YAML"),
    ],
    ids=range(17),
)
def test_what_could_be_read_in_two_ways_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(YamlRefused, match=said):
        read_yaml(text)


def test_a_merge_key_brings_in_a_mapping_and_what_is_written_beside_it_wins() -> None:
    text = "base: &base {retries: 1, kind: a}\nmore: &more {retries: 2, lock: x}\n"
    own = "step:\n  retries: 5\n  <<: [*base, *more]\n"
    assert read_yaml(text + own)["step"] == {"retries": 5, "kind": "a", "lock": "x"}
    assert read_yaml("a: &a {b: 1}\nc: {<<: *a}")["c"] == {"b": 1}


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(st.characters(exclude_categories=["Cs"]))
        | st.sampled_from(["NO", "1e5", "0o14", "~", "<<", "12:30", "2030-01-31", "=", ".5"]),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("ab<1~", max_size=3), inner),
        max_leaves=10,
    )
)
def test_what_is_written_reads_back_as_it_was(document: Any) -> None:
    assert read_yaml(write_yaml(document)) == document
