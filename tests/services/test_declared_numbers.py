"""Numbers that workers and people declare: what is out of bounds is refused at each door."""

import math
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import FloatField, IntegerField

from tasks_app.core.facts import ErrorFacts
from tasks_app.core.intake.new_tasks import NewTask
from tasks_app.core.intake.task_checks import check_batch
from tasks_app.core.jobs.plan_checks import check_plan
from tasks_app.core.states import Status
from tasks_app.models import Heartbeat, Lease
from tasks_app.sdk.handlers import HandlerError, handler
from tasks_app.sdk.link import Completion, DeclarationRefused, Failure, Progress, Registration
from tasks_app.sdk.task_log import LogLine
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.settings.settings_sections import SECTIONS, known_names
from tests.floor import Floor

SOUND = Registration("w1", 4, {"job": 1.0}, "host", 1, "1.0")
HUGE = 10**400
NO_NUMBERS: tuple[Any, ...] = (math.nan, math.inf, -math.inf, HUGE, -HUGE, -1, "1", True, [])


@pytest.mark.parametrize("skill", [*NO_NUMBERS, 0, 1e-306, 3e-305, 1e-4, 1e4, 1e308, None])
def test_a_skill_that_no_decision_can_reckon_with_is_refused(record: None, skill: Any) -> None:
    with pytest.raises(DeclarationRefused, match=r"the skill of job is .*: give"):
        worker_protocol.register(replace(SOUND, skills={"job": skill}))
    with pytest.raises(HandlerError, match="give a number from"):
        handler("job", skill=skill)(lambda payload, ctx: None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("slots", each) for each in (*NO_NUMBERS, 0, 1001, 1.5)),
        *(("pid", each) for each in (math.nan, HUGE, -1, 2**31, "1", True)),
        *(("name", each) for each in ("", " ", "n" * 101, "a\0b", 7)),
        *(("host", each) for each in ("h" * 201, "a\0b", "\ud800")),
        *(("version", each) for each in ("v" * 101, "a\0b", "\ud800")),
        *(("skills", {each: 1.0}) for each in ("", "k" * 101, "a\0b")),
        ("skills", {f"k{n}": 1.0 for n in range(1001)}),
    ],
)
def test_a_registration_out_of_bounds_is_refused(record: None, field: str, value: Any) -> None:
    with pytest.raises(DeclarationRefused):
        worker_protocol.register(replace(SOUND, **{field: value}))


def test_rounds_go_on_with_every_declaration_at_its_ends(floor: Floor) -> None:
    floor.worker("slow", slots=1, skills={"job": 0.001})
    floor.worker("fast", slots=1000, skills={"job": 1000.0})
    floor.settings(backlog=None)
    floor.submit(estimates=[30 * 86400.0, 1e-6] * 20)
    floor.submit(20, weight=1e6, priority=1000)
    assert floor.round().dispatched == 60
    assert floor.round().dispatched == 0


def test_a_record_that_holds_what_no_door_lets_in_any_more_ends_no_round(floor: Floor) -> None:
    floor.worker("w1", slots=4)
    floor.submit(2)
    assert floor.round().dispatched == 2
    Lease.objects.update(expected_seconds=1.7e308)
    floor.submit(2)
    assert floor.round().dispatched == 2
    Lease.objects.update(expected_seconds=math.inf)
    floor.submit(2)
    assert floor.round().dispatched == 2


def test_a_sign_of_life_counts_whatever_it_says_of_tasks(floor: Floor) -> None:
    worker = floor.worker("w1", slots=4)
    floor.submit(2)
    floor.round()
    first, second = floor.claim("w1")
    before = Heartbeat.objects.get(worker_id=worker).at
    told = [
        Progress(first.token, math.nan, "a\0b", [LogLine(math.inf, "INFO", "a\0b")]),
        Progress(second.token, HUGE, "n" * 10_000, [LogLine(math.nan, "INFO", "x")]),
        Progress(HUGE, 0.5, "nobody's", [LogLine(1.0, "INFO", "x")]),
    ]
    tokens = [first.token, second.token, HUGE, -1]
    orders = worker_protocol.heartbeat(worker, tokens, told)
    kept = Heartbeat.objects.get(worker_id=worker)
    assert kept.at > before
    assert kept.progress[str(first.token)] == {"fraction": None, "note": "a\ufffdb"}
    assert kept.progress[str(second.token)]["fraction"] == 1.0
    assert list(orders.lost) == [HUGE, -1]


def test_one_report_out_of_bounds_costs_the_others_of_its_batch_nothing(floor: Floor) -> None:
    worker = floor.worker("w1", slots=4)
    tasks = floor.submit(3)
    floor.round()
    done, failed, other = floor.claim("w1")
    nowhere = Completion(uuid4(), HUGE, None)
    assert worker_protocol.complete(worker, [nowhere, Completion(tasks[0], done.token, 1)]) == [
        HUGE
    ]
    worse = ErrorFacts("a\0b", "m" * 100_000, status=HUGE, retry_after=math.nan)
    worst = ErrorFacts("E", "\ud800", status=429, retry_after=math.inf)
    reports = [
        Failure(uuid4(), 0, worse),
        Failure(failed.task_id, failed.token, worse),
        Failure(other.task_id, other.token, worst),
    ]
    assert worker_protocol.fail(worker, reports) == [0]
    assert [floor.status(task) for task in tasks] == [
        Status.COMPLETED,
        Status.FAILED,
        Status.FAILED,
    ]
    assert len(worker_protocol.claim(worker, HUGE)) == 0
    assert len(worker_protocol.claim(worker, -1)) == 0
    worker_protocol.release(worker, [HUGE, -1, 0])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, HUGE, -HUGE, -1, "1", True])
@pytest.mark.parametrize("field", ["weight", "estimate_seconds", "max_attempts"])
def test_a_task_or_a_step_out_of_bounds_is_refused(field: str, value: Any) -> None:
    task = replace(NewTask("job", {}), **{field: value})
    assert [fault.field for fault in check_batch([task], ["job"], {})] == [field]
    plan = {"steps": [{"name": "a", "kind": "job", field: value}]}
    assert check_plan(plan, ["job"], lambda kind, payload: None).faults


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, HUGE, -HUGE, "x", True, []])
def test_a_setting_out_of_bounds_is_refused_in_a_file_as_in_a_form(
    record: None, value: Any
) -> None:
    known = known_names()
    for section in SECTIONS:
        for field in section.model._meta.concrete_fields:
            if isinstance(field, FloatField | IntegerField) and field.editable:
                faults = list(section.faults({field.name: value}, known))
                assert faults, f"{section.model.__name__}.{field.name} = {value!r}"
