"""The outbox of ``docs/effects.md``, read from the page itself and done on the real record."""

import json
import re
from typing import Any
from uuid import UUID

import pytest

from controlplane.environment import ROOT
from tasks_app.core.jobs.job_states import JobStatus
from tasks_app.core.states import Status
from tasks_app.models import Kind
from tests.jobs import JobFloor

PLAN = re.compile(r"<!-- the plan that the tests submit -->\n```json\n(.*?)```", re.DOTALL)


@pytest.fixture
def floor(record: None) -> JobFloor:
    return JobFloor()


def submit(floor: JobFloor) -> UUID:
    """Submit the page's plan to a worker that can do all of it."""
    found = PLAN.search((ROOT / "docs" / "effects.md").read_text())
    assert found is not None
    plan = json.loads(found[1])
    kinds = {step["kind"] for step in plan["steps"]}
    for kind in kinds:
        Kind.objects.get_or_create(name=kind)
    floor.worker("w1", slots=4, skills=dict.fromkeys(kinds, 1.0))
    return floor.job(**plan)


def draft(floor: JobFloor, result: dict[str, Any]) -> None:
    """Do everything but the sending."""
    floor.complete("w1", floor.next(), {"label": "card"})
    grants = {grant.kind: grant for grant in floor.all_next()}
    assert grants.keys() == {"draft_reply", "book_time"}
    floor.complete("w1", grants["draft_reply"], result)
    assert floor.all_next() == [], "nothing is sent before everything else is done"
    floor.complete("w1", grants["book_time"], None)


def test_what_a_result_asks_for_is_sent_at_the_end(floor: JobFloor) -> None:
    job = submit(floor)
    draft(floor, {"send": True, "to": "a@example.org", "text": "On its way."})
    sending = floor.next()
    assert sending.payload == {"to": "a@example.org", "text": "On its way."}
    floor.complete("w1", sending, {"message": "m1"})
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPLETED
    floor.assert_sound()


def test_where_no_result_asks_for_it_nothing_is_sent(floor: JobFloor) -> None:
    job = submit(floor)
    draft(floor, {"send": False})
    assert floor.all_next() == []
    assert floor.steps(job)["send"] is Status.SKIPPED
    assert floor.job_status(job) is JobStatus.COMPLETED
    floor.assert_sound()
