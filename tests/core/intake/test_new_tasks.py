"""Faults of a batch that show without the record."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.intake.new_tasks import (
    Dependency,
    KeyRef,
    NewTask,
    places_of_keys,
    shown,
    unknown_kind,
)
from tasks_app.core.intake.task_checks import check_batch

KINDS = ["job", "draft"]


def faults(tasks: list[NewTask]) -> list[tuple[int, str]]:
    found = check_batch(tasks, KINDS, places_of_keys(tasks))
    return [(fault.index, fault.field) for fault in found]


references = st.integers(-2, 9) | st.builds(
    KeyRef, st.sampled_from(KINDS), st.sampled_from(["a", "b", "c"])
)
batches = st.lists(
    st.builds(
        NewTask,
        kind=st.sampled_from(KINDS),
        payload=st.none(),
        key=st.sampled_from([None, "a", "b", "c"]),
        depends_on=st.lists(st.builds(Dependency, on=references), max_size=2),
    ),
    max_size=7,
)


@given(batches)
def test_a_batch_without_faults_can_be_done_in_some_order(tasks: list[NewTask]) -> None:
    """Done one after another, each after what it waits for; with a fault, some reason exists."""
    places = places_of_keys(tasks)
    found = faults(tasks)
    done: set[int] = set()
    inside = [
        [
            places[need.on.kind, need.on.key] if isinstance(need.on, KeyRef) else need.on
            for need in task.depends_on
            if not isinstance(need.on, KeyRef) or (need.on.kind, need.on.key) in places
        ]
        for task in tasks
    ]
    for _ in tasks:
        done |= {n for n, needs in enumerate(inside) if all(need in done for need in needs)}
    doable = len(done) == len(tasks)
    assert ("depends_on" in {field.split("[")[0] for _, field in found}) == (not doable)
    assert "key" not in {field for _, field in found}, "content decides about a key that repeats"


@given(st.recursive(st.none() | st.text() | st.integers() | st.floats() | st.binary(), st.lists))
def test_a_value_is_shown_in_a_hundred_storable_characters(value: Any) -> None:
    text = shown(value)
    assert len(text) <= 100
    text.encode()
    assert "\x00" not in text


def test_a_huge_integer_is_shown_without_its_digits() -> None:
    assert shown(10**5000) == "a huge integer"


def test_a_long_list_of_kinds_is_cut() -> None:
    message = unknown_kind("job7x", [f"job{n}" for n in range(50)])
    assert "did you mean job7?" in message
    assert message.endswith("and 30 more")
    assert "there is none yet" in unknown_kind("job", [])
