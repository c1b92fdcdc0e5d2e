"""GET: one task with its attempts, and the kinds."""

from uuid import uuid4

from tests.api.conftest import Program
from tests.floor import Floor


def test_a_task_is_told_with_its_attempts_result_and_dependencies(
    program: Program, floor: Floor
) -> None:
    floor.worker("w1")
    submitted = program.post(
        {
            "tasks": [
                {"kind": "job", "payload": {"n": 1}, "key": "a"},
                {"kind": "job", "payload": {"n": 2}, "depends_on": [{"on": 0, "name": "first"}]},
            ]
        }
    )
    first, second = (task["id"] for task in submitted.json["tasks"])
    floor.round()
    (grant,) = floor.claim("w1")
    floor.fail("w1", grant)
    floor.backoff_over(grant.task_id)
    floor.round()
    (grant,) = floor.claim("w1")
    floor.complete("w1", grant, {"label": "card"})
    task = program.get(f"tasks/{first}").json
    assert (task["status"], task["result"], task["payload"]) == (
        "COMPLETED",
        {"label": "card"},
        {"n": 1},
    )
    assert [(a["number"], a["outcome"], a["worker"]) for a in task["attempts"]] == [
        (1, "error", "w1"),
        (2, "completed", "w1"),
    ]
    assert task["attempts"][0]["error"]["message"] == "no answer"
    assert task["attempts"][1]["error"] is None
    assert task["attempt_count"] == 2
    waiting = program.get(f"tasks/{second}").json
    assert waiting["status"] == "PENDING"
    assert waiting["depends_on"] == [
        {"on": first, "name": "first", "on_dead": "wait", "state": "waiting"}
    ]


def test_an_unknown_task_is_404_and_what_is_no_id_is_422(program: Program) -> None:
    assert program.get(f"tasks/{uuid4()}").status == 404
    assert program.get("tasks/abc").faults == [(None, "task_id")]


def test_the_kinds_are_listed_with_their_schemas(program: Program) -> None:
    kinds = program.get("kinds").json
    assert [kind["name"] for kind in kinds] == ["classify_ticket", "job"]
    assert kinds[0]["payload_schema"]["required"] == ["text"]
    assert kinds[1]["payload_schema"] is None
