"""Settings at the most that they may be: no round fails of one, which would end its leader."""

from typing import Any

import pytest
from django.core.validators import MaxValueValidator
from django.db.models import FloatField, IntegerField, Model

from tasks_app.core.actions.bulks import BulkAction, BulkOrder
from tasks_app.core.attempts.retry_budget import MOST
from tasks_app.core.intake.new_tasks import HIGHEST_PRIORITY, HIGHEST_WEIGHT
from tasks_app.core.states import Status
from tasks_app.models import (
    AlertSettings,
    Kind,
    Limit,
    RetryCredit,
    SupervisorSettings,
)
from tasks_app.services.actions import bulks
from tasks_app.services.people.people import Actor
from tasks_app.services.settings.settings_sections import SECTIONS
from tasks_app.store.reads.jobs.inbox import list_waiting
from tests.floor import Floor

OTTO = Actor("otto", "10.0.0.7", "session 0a1b2c3d")

COMPARED_ONLY = {AlertSettings}
"""What no statement reckons with, and no product."""


def most(model: type[Model]) -> dict[str, Any]:
    """The most of every number; fails where one has no bound."""
    found = {}
    for field in model._meta.concrete_fields:
        if isinstance(field, FloatField | IntegerField) and field.editable:
            bounds = [each for each in field.validators if isinstance(each, MaxValueValidator)]
            assert bounds, f"{field} has no bound"
            found[field.name] = min(each.limit_value for each in bounds)
    return found


@pytest.mark.parametrize(
    "model", [each.model for each in SECTIONS if each.model not in COMPARED_ONLY]
)
def test_every_number_that_is_reckoned_with_has_a_bound(model: type[Model]) -> None:
    most(model)


def test_rounds_go_on_with_every_setting_at_its_most(floor: Floor) -> None:
    supervisor, kind = most(SupervisorSettings), most(Kind)
    supervisor["heartbeat_seconds"] = supervisor["stale_after_seconds"] / 2
    floor.settings(**supervisor)
    Limit.objects.create(name="mail", **most(Limit))
    floor.kind(**kind, limit_id="mail")
    floor.kind("letter", by_people=True, **kind)
    floor.worker("w1", slots=8)
    low = floor.submit(2, priority=-HIGHEST_PRIORITY, weight=HIGHEST_WEIGHT)
    floor.submit(4, priority=HIGHEST_PRIORITY, weight=HIGHEST_WEIGHT)
    floor.submit(1, kind="letter")
    for dispatched in (6, 1):
        assert floor.round().dispatched == dispatched
        for grant in floor.claim("w1"):
            floor.started_ago(grant, 5.0)
            floor.fail("w1", grant, message="no")
        assert floor.status(low[0]) is Status.FAILED
        floor.backoff_over(low[0])
    assert RetryCredit.objects.get(kind="job").credit <= MOST


def test_rounds_go_on_with_every_breaker_and_quarantine_at_its_longest(floor: Floor) -> None:
    window = most(SupervisorSettings)["quarantine_window_seconds"]
    floor.settings(quarantine_window_seconds=window, quarantine_after=1)
    guarded = {**most(Kind), "breaker_failures": 1, "max_attempts": 1}
    floor.kind(**guarded)
    floor.worker("w1", slots=8)
    floor.submit(2)
    floor.round()
    for grant in floor.claim("w1"):
        floor.fail("w1", grant, message="no")
    (task,) = floor.submit(1)
    for _ in range(2):
        floor.round()
    assert floor.status(task) is Status.PENDING, "the breaker is open for a year"


def test_tasks_move_between_the_ends_of_a_queue_at_the_longest_head_start(floor: Floor) -> None:
    longest = most(SupervisorSettings)["priority_head_start_seconds"]
    floor.settings(priority_head_start_seconds=longest)
    floor.kind("letter", by_people=True)
    tasks = floor.submit(2, kind="letter")
    for first, last in (tasks, reversed(tasks)):
        for task, priority in ((first, HIGHEST_PRIORITY), (last, -HIGHEST_PRIORITY)):
            order = BulkOrder(BulkAction.PRIORITY, priority=priority)
            assert bulks.at_once(order, task, OTTO).done
        assert [step.id for step in list_waiting().rows] == [first, last]
