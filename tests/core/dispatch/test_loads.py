"""When a worker with several slots could begin one task more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.dispatch.worker_loads import WorkerLoad, room_for
from tests.core.facts_made import a_worker


def load_of(slots: int, active: int = 0, queued_seconds: float = 0.0) -> WorkerLoad:
    return WorkerLoad(
        a_worker(1, slots=slots, active=active, queued_seconds=queued_seconds), 0, None
    )


def test_with_a_free_slot_it_can_begin_at_once() -> None:
    assert load_of(slots=3, active=2, queued_seconds=100).wait == 0


def test_with_every_slot_busy_it_waits_for_an_even_share_of_what_is_left() -> None:
    assert load_of(slots=2, active=2, queued_seconds=20).wait == 10


def test_of_three_leases_on_two_slots_one_is_queued_behind_one_slot_only() -> None:
    # 10 s each: slots free after 10 and 20 s.
    load = load_of(slots=2, active=3, queued_seconds=30)
    assert load.wait == 10
    load.take(100)
    assert load.wait == 20


def test_new_tasks_fill_free_slots_before_they_queue() -> None:
    load = load_of(slots=2)
    waits = []
    for seconds in (10, 2, 2, 10):
        waits.append(load.wait)
        load.take(seconds)
    assert waits == [0, 0, 2, 4]
    assert (load.active, load.seconds) == (4, 24)


@given(
    st.integers(1, 5),
    st.integers(0, 9),
    st.floats(0, 1e6),
    st.lists(st.floats(0, 1e6), min_size=1, max_size=20),
)
def test_a_wait_never_shrinks_within_a_round(
    slots: int, active: int, queued_seconds: float, tasks: list[float]
) -> None:
    load = load_of(slots, active, queued_seconds if active else 0.0)
    waits = [load.wait]
    for seconds in tasks:
        load.take(seconds)
        waits.append(load.wait)
    assert waits == sorted(waits)


@pytest.mark.parametrize(
    ("slots", "active", "backlog", "room"),
    [(4, 1, 0, 3), (4, 4, 0, 0), (4, 1, 1, 7), (25, 0, 0.16, 29), (3, 0, 0.5, 4), (1, 9, 1, 0)],
)
def test_room_is_slots_and_backlog_less_what_is_held(
    slots: int, active: int, backlog: float, room: int
) -> None:
    assert room_for(slots, active, backlog) == room
