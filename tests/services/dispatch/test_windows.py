"""How far a round looks into the ready queue: far enough to find what is free, and no further."""

import pytest

from tasks_app.core.states import Status
from tasks_app.models import Limit
from tasks_app.services.dispatch import locked_windows
from tasks_app.store.reads.dispatch import behind_locks
from tests.floor import Floor


def test_tasks_of_a_held_lock_that_fill_the_window_do_not_hide_a_free_one(floor: Floor) -> None:
    floor.settings(window=50)
    floor.worker("w1", slots=10)
    floor.submit(200, lock_key="a")
    assert floor.round().dispatched == 1
    (free,) = floor.submit()
    (of_another_lock,) = floor.submit(lock_key="b")
    floor.round()
    assert floor.status(free) is Status.ASSIGNED
    assert floor.status(of_another_lock) is Status.ASSIGNED


def test_tasks_of_one_lock_that_nobody_holds_yet_do_not_hide_free_ones(floor: Floor) -> None:
    floor.settings(window=50)
    floor.worker("w1", slots=10)
    floor.submit(200, lock_key="a")
    (free,) = floor.submit()
    floor.round()
    assert floor.status(free) is Status.ASSIGNED


def test_several_held_locks_hide_nothing_and_every_kind_is_looked_through(floor: Floor) -> None:
    floor.settings(window=20)
    skills = {"a": 1.0, "b": 1.0}
    floor.worker("w1", slots=20, skills=skills)
    for kind in skills:
        for lock in ("x", "y", "z"):
            floor.submit(40, kind=kind, lock_key=f"{lock} of {kind}")
    free = [floor.submit(kind=kind)[0] for kind in skills]
    for _ in range(4):
        floor.round()
    assert [floor.status(task) for task in free] == [Status.ASSIGNED, Status.ASSIGNED]


def test_a_lock_with_more_tasks_than_a_round_looks_through_hides_a_free_one_for_some_rounds_only(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locked_windows, "STRETCH", 100)
    floor.settings(window=20)
    floor.worker("w1", slots=10)
    floor.submit(450, lock_key="a")
    (free,) = floor.submit()
    for _ in range(7):
        floor.round()
    assert floor.status(free) is Status.ASSIGNED


def test_while_no_worker_has_room_a_round_does_not_look_past_locks(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor.settings(window=20, backlog=0.0)
    floor.worker("w1", slots=1)
    floor.submit(50, lock_key="a")
    floor.round()
    monkeypatch.setattr(behind_locks, "stretch_ends", lambda *_: pytest.fail("it looked"))
    monkeypatch.setattr(locked_windows, "stretch_ends", lambda *_: pytest.fail("it looked"))
    assert floor.round().dispatched == 0


@pytest.mark.parametrize("cap", [{"max_concurrent": 1}, {"rate_per_second": 0.001, "burst": 1}])
def test_a_full_limit_does_not_make_a_round_look_further_for_its_kinds(
    floor: Floor, cap: dict[str, float]
) -> None:
    limit = Limit.objects.create(name="api", **cap)
    kinds = [f"k{n}" for n in range(5)]
    floor.worker("w1", slots=4, skills=dict.fromkeys(kinds, 1.0))
    for kind in kinds:
        floor.kind(kind, limit=limit)
        floor.submit(500, kind=kind)
    floor.round()
    assert floor.round().ready == 5 * 100
