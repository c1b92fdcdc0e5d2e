"""GET: one task with its attempts, and the kinds."""

from uuid import uuid4

from tasks_app.core.people.scopes import Scope
from tasks_app.models import Task
from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, Role
from tests.api.conftest import Program
from tests.floor import Floor
from tests.web.conftest import died


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


def test_tasks_are_listed_by_a_query_page_after_page(program: Program, floor: Floor) -> None:
    ids = [str(task) for task in floor.submit(5)]
    floor.submit(2, kind="other")
    first = program.get("tasks?q=kind:job&limit=3").json
    assert [task["id"] for task in first["tasks"]] == ids[:1:-1]
    second = program.get(f"tasks?q=kind:job&limit=3&after={first['next']}").json
    assert [task["id"] for task in second["tasks"]] == ids[1::-1]
    assert second["next"] is None
    for limit in ("1_0", "10.0", "%201"):
        assert program.get(f"tasks?limit={limit}").faults == [(None, "limit")]
    oldest = program.get("tasks?q=kind:job&limit=1&sort=-age").json
    assert oldest["tasks"][0]["id"] == ids[0]


def test_those_dead_of_one_cause_are_found_by_its_fingerprint(
    program: Program, floor: Floor
) -> None:
    floor.worker("w1")
    task = died(floor, "w1")
    floor.submit(1)
    found = program.get(f"tasks?q=cause:{floor.task(task).fingerprint}").json["tasks"]
    assert [each["id"] for each in found] == [str(task)]
    assert program.get("tasks?q=cause:KeyError").faults == [(None, "q")]


def test_a_wrong_query_is_422_and_says_where_and_what_instead(program: Program) -> None:
    answer = program.get("tasks?q=status:ded")
    assert answer.faults == [(None, "q")]
    assert "at character 8" in answer.json["detail"]
    assert "status:dead" in answer.json["detail"]
    assert program.get("tasks?after=nonsense").faults == [(None, "after")]
    assert program.get("tasks?query=status:dead").faults == [(None, "query")]


def test_redacted_keys_are_masked_unless_the_token_may_see_them(
    floor: Floor,
) -> None:
    floor.kind("job", redacted_keys=["card"])
    (task,) = floor.submit(1)
    Task.objects.filter(id=task).update(payload={"card": "4111", "n": 1})
    ada = Actor("ada", role=Role.ADMIN)
    reader = Program(tokens.create("reader", ada, scopes=[Scope.READ]).text)
    assert reader.get(f"tasks/{task}").json["payload"] == {"card": "[redacted]", "n": 1}
    assert reader.get("tasks?q=payload.card:4111").json["tasks"] == []
    scopes = [Scope.READ, Scope.PAYLOADS]
    auditor = Program(tokens.create("auditor", ada, scopes=scopes).text)
    assert auditor.get(f"tasks/{task}").json["payload"] == {"card": "4111", "n": 1}
    assert len(auditor.get("tasks?q=payload.card:4111").json["tasks"]) == 1
