"""Dead letters that are alike: marked at their death, counted by group, seen to come back."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from tasks_app.core.failures.fingerprints import UNMARKED, fingerprint_of
from tasks_app.core.states import OnDead
from tasks_app.models import Death, Task, Worker
from tasks_app.services.actions import operations
from tasks_app.services.people.people import Actor
from tasks_app.store.reads.failures import dead_groups
from tasks_app.store.reads.failures.dead_letters import DeadFilter, list_causes, list_dead
from tests.floor import Floor
from tests.web.conftest import died

OTTO = Actor("otto")


def key(message: str = "payload.text is missing") -> str:
    error = {"type": "jsonschema.ValidationError", "message": message, "traceback": ""}
    return fingerprint_of(error, "permanent").key


def test_a_death_leaves_its_fingerprint_its_worker_and_its_time(floor: Floor) -> None:
    worker = floor.worker("w1")
    task = died(floor, "w1")
    row = Death.objects.get()
    assert (row.task_id, row.kind, row.worker_id) == (task, "job", worker)
    assert row.fingerprint == floor.task(task).fingerprint == key()
    assert row.at == floor.task(task).finished_at


def test_a_failure_that_is_tried_again_is_no_death(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit()
    floor.round()
    floor.fail("w1", floor.claim("w1")[0])
    assert not Death.objects.exists()
    assert floor.task(task).fingerprint is None


def test_one_that_dies_with_its_dependency_has_no_worker(floor: Floor) -> None:
    floor.worker("w1")
    (first,) = floor.submit()
    (second,) = floor.submit(needs=[(first, OnDead.FAIL)])
    floor.round()
    floor.fail("w1", floor.claim("w1")[0], permanent=True)
    floor.round()
    row = Death.objects.get(task_id=second)
    assert (row.worker_id, row.fingerprint) == (None, fingerprint_of(None, "dependency").key)


def test_what_was_cancelled_meanwhile_is_no_death(floor: Floor) -> None:
    from tasks_app.services.actions.cancellation import cancel_tasks

    floor.worker("w1")
    (task,) = floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    cancel_tasks([task], OTTO)
    floor.fail("w1", grant, permanent=True)
    assert not Death.objects.exists()


def histories(*keys: str) -> Any:
    return dead_groups.read_histories(keys)


def test_a_group_is_new_for_a_day_and_until_somebody_attends_to_it(floor: Floor) -> None:
    floor.worker("w1")
    died(floor, "w1")
    assert histories(key())[key()].is_new
    Death.objects.update(at=timezone.now() - timedelta(days=2))
    assert not histories(key())[key()].is_new


def test_one_that_comes_back_after_its_dismissal_says_on_which_version(floor: Floor) -> None:
    floor.worker("w1")
    first, second = died(floor, "w1"), died(floor, "w1")
    operations.dismiss([first], OTTO, "known")
    assert histories(key())[key()].dismissed_at is None, "one of them is dead still"
    operations.dismiss([second], OTTO, "known")
    assert histories(key())[key()].came_back_at is None
    Worker.objects.update(version="1.4.2")
    third = died(floor, "w1")
    back = histories(key())[key()]
    assert back.came_back_at == floor.task(third).finished_at
    assert back.version == "1.4.2"


def test_its_curve_and_spread_count_what_died_when_and_where(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor.worker("w1", skills={"job": 1, "other": 1})
    for kind in ("job", "job", "other"):
        died(floor, "w1", kind=kind)
    oldest = Death.objects.order_by("at")[0]
    Death.objects.filter(id=oldest.id).update(at=timezone.now() - timedelta(hours=5, minutes=30))
    history = histories(key(), "unknown")[key()]
    assert (history.hours[-1], history.hours[-6], sum(history.hours)) == (2, 1, 3)
    assert history.workers == ["w1"]
    spread = dead_groups.read_spread(key())
    assert spread["kind"] == [("job", 2), ("other", 1)]
    assert spread["worker"] == [("w1", 3)]
    assert spread["version"] == [("", 3)]
    assert dead_groups.count_dead(key()) == 3
    monkeypatch.setattr(dead_groups, "MOST_DEAD", 2)
    assert dead_groups.count_dead(key()) == 2


def test_rows_without_a_fingerprint_are_a_group_of_their_own(floor: Floor) -> None:
    floor.worker("w1")
    task = died(floor, "w1")
    Task.objects.update(fingerprint=None)
    assert [row.id for row in list_dead(DeadFilter(cause=UNMARKED)).rows] == [task]
    assert list_causes(DeadFilter())[0][0].key == UNMARKED


@pytest.fixture
def dead(floor: Floor) -> UUID:
    floor.worker("w1")
    return died(floor, "w1")


def test_the_sample_is_the_latest_to_die(floor: Floor, dead: UUID) -> None:
    last = died(floor, "w1")
    sample = dead_groups.find_sample(key())
    assert sample is not None
    assert (sample.id, sample.message) == (last, "payload.text is missing")
    assert dead_groups.find_sample("0" * 16) is None
