"""Jobs over HTTP: whole or not at all, and what became of them."""

from uuid import uuid4

import pytest

from tasks_app.core.states import Status
from tasks_app.models import Job, Task
from tests.api.conftest import Answer, Program
from tests.floor import Floor

PLAN = {
    "name": "triage",
    "steps": [
        {"name": "sort", "kind": "classify_ticket", "payload": {"text": "lost card"}},
        {"name": "act", "kind": "job", "payload": {"about": {"$result": "sort.label"}}},
    ],
}


def post(program: Program, plan: object, **headers: str) -> Answer:
    response = program.client.post(
        "/api/v1/jobs",
        plan,
        content_type="application/json",
        headers={"Authorization": f"Bearer {program.token}", **headers},
    )
    return Answer(response)


def test_a_plan_is_submitted_and_its_job_can_be_followed_to_its_result(
    program: Program, floor: Floor
) -> None:
    answer = post(program, PLAN)
    assert (answer.status, answer.json["created"]) == (201, True)
    job_id = answer.json["id"]
    found = program.get(f"jobs/{job_id}").json
    assert (found["status"], found["progress"]) == ("RUNNING", {"PENDING": 2})
    assert [(step["name"], step["status"]) for step in found["steps"]] == [
        ("sort", "PENDING"),
        ("act", "PENDING"),
    ]
    assert found["submitted_by"] == "tests"
    floor.worker("w1", skills={"classify_ticket": 1.0, "job": 1.0})
    for result in ({"label": "card"}, "done"):
        while not (grants := floor.claim("w1")):
            floor.round()
        floor.complete("w1", grants[0], result)
    while floor.round().moved:
        pass
    found = program.get(f"jobs/{job_id}").json
    assert (found["status"], found["result"]) == ("COMPLETED", {"act": "done"})


def test_a_job_says_whom_it_waits_for(program: Program, floor: Floor) -> None:
    job_id = post(program, PLAN).json["id"]
    floor.worker("w1", skills={"classify_ticket": 1.0})
    floor.round()
    (grant,) = floor.claim("w1")
    floor.fail("w1", grant, permanent=True)
    while floor.round().moved:
        pass
    found = program.get(f"jobs/{job_id}").json
    assert found["status"] == "DEAD"
    assert found["waits_for"] == [
        {
            "task_id": str(grant.task_id),
            "step": "sort",
            "role": "step",
            "reason": "permanent",
            "message": "no answer",
        }
    ]


def test_every_fault_is_named_by_step_and_field_and_nothing_is_written(program: Program) -> None:
    answer = post(
        program,
        {
            "steps": [
                {"name": "sort", "kind": "classify_ticket", "payload": {}},
                {"name": "act", "kind": "jobb", "depends_on": ["sortt"]},
            ],
            "result": {"$result": "nobody"},
        },
    )
    assert answer.faults == [
        (0, "payload"),
        (1, "kind"),
        (1, "depends_on[0]"),
        (None, "result"),
    ]
    assert (Job.objects.count(), Task.objects.count()) == (0, 0)


def test_the_header_is_the_plans_key(program: Program) -> None:
    first = post(program, PLAN, **{"Idempotency-Key": "day-1"})
    second = post(program, {**PLAN, "key": "day-1"})
    assert (first.status, second.status) == (201, 200)
    assert first.json["id"] == second.json["id"]
    other = post(program, {**PLAN, "key": "day-2"}, **{"Idempotency-Key": "day-1"})
    assert other.faults == [(None, "key")]
    assert Task.objects.filter(status=Status.PENDING).count() == 2


@pytest.mark.parametrize("body", [[], "null", 7])
def test_what_is_no_object_is_refused(program: Program, body: object) -> None:
    assert post(program, body).status == 422


def test_an_unknown_job_is_not_found(program: Program) -> None:
    assert program.get(f"jobs/{uuid4()}").status == 404
