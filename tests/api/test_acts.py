"""What operators' programs do: each act by its route, audited under the token's name."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tasks_app.core.people.scopes import Scope
from tasks_app.models import AuditEntry, Bulk, Job, Kind, Worker
from tasks_app.services.jobs.jobs import submit_job
from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, Role
from tests.api.conftest import Answer, Program
from tests.floor import Floor


def act(program: Program, path: str, **body: Any) -> Answer:
    response = program.client.post(
        f"/api/v1/{path}",
        body,
        content_type="application/json",
        headers={"Authorization": f"Bearer {program.token}"},
    )
    return Answer(response)


def test_a_kind_is_paused_resumed_and_freed(program: Program, floor: Floor) -> None:
    assert act(program, "kinds/pause", kind="job", reason="down").json == {"changed": True}
    assert act(program, "kinds/pause", kind="job").json == {"changed": False}
    assert Kind.objects.get(name="job").paused
    assert act(program, "kinds/resume", kind="job").json == {"changed": True}
    Kind.objects.filter(name="job").update(quarantined_at="2030-01-01T00:00:00Z")
    assert act(program, "kinds/free", kind="job").json == {"changed": True}
    assert act(program, "kinds/quarantine", kind="job").json == {"changed": True}
    assert act(program, "kinds/quarantine", kind="job").json == {"changed": False}
    assert act(program, "kinds/free", kind="jib").status == 404
    assert act(program, "kinds/stop", kind="job").status == 422
    actions = AuditEntry.objects.filter(action__endswith=" kind").order_by("id")
    done = ["pause kind", "resume kind", "free kind", "quarantine kind"]
    assert [entry.action for entry in actions] == done
    assert {entry.actor for entry in actions} == {"tests"}


def test_a_worker_is_drained_and_resumed_by_name_or_id(program: Program, floor: Floor) -> None:
    worker = floor.worker("w1")
    assert act(program, "workers/drain", worker="w1").json == {"changed": True}
    assert Worker.objects.get(id=worker).drain_asked
    assert act(program, "workers/resume", worker=str(worker)).json == {"changed": True}
    assert act(program, "workers/drain", worker="w2").status == 404


def test_a_job_is_paused_resumed_undone_and_cancelled(program: Program, floor: Floor) -> None:
    def a_job() -> UUID:
        return submit_job({"steps": [{"name": "a", "kind": "job"}]}).id

    job = a_job()
    for name, changed in (("pause", True), ("pause", False), ("resume", True), ("cancel", True)):
        assert act(program, f"jobs/{job}/{name}", reason="x").json == {"changed": changed}
    while floor.round().moved:
        pass
    assert Job.objects.get(id=job).status == "CANCELLED"
    undone = a_job()
    assert act(program, f"jobs/{undone}/compensate").json == {"changed": True}
    assert Job.objects.get(id=undone).status == "COMPENSATING"
    assert act(program, f"jobs/{uuid4()}/pause").status == 404


def test_tasks_are_cancelled_by_their_ids(program: Program, floor: Floor) -> None:
    floor.worker("w1")
    (running,) = floor.submit()
    floor.round()
    floor.claim("w1")
    (pending,) = floor.submit()
    nobody = uuid4()
    answer = act(program, "cancellations", ids=[str(t) for t in (running, pending, nobody)])
    assert answer.json["cancelled"] == [str(pending)]
    assert answer.json["asked"] == [str(running)]
    assert [each["id"] for each in answer.json["refused"]] == [str(nobody)]
    assert act(program, "cancellations", ids=[]).status == 422


def test_a_query_begins_a_bulk_that_can_be_followed_and_aborted(
    program: Program, floor: Floor
) -> None:
    floor.submit(3)
    body = {"action": "cancel", "query": "kind:job", "reason": "a mistake", "key": "once"}
    begun = act(program, "bulks", **body)
    assert (begun.status, begun.json["total"], begun.json["state"]) == (202, 3, "held")
    assert act(program, "bulks", **body).json["id"] == begun.json["id"]
    assert program.get(f"bulks/{begun.json['id']}").json["dealt_with"] == 0
    assert act(program, f"bulks/{begun.json['id']}/abort").json == {"changed": True}
    assert program.get(f"bulks/{begun.json['id']}").json["state"] == "aborted"
    assert program.get(f"bulks/{uuid4()}").status == 404


def test_a_query_that_is_wrong_or_finds_nothing_begins_none(program: Program, floor: Floor) -> None:
    assert act(program, "bulks", action="cancel", query="status:lost", reason="x").faults == [
        (None, "query")
    ]
    assert act(program, "bulks", action="dismiss", query="kind:job").faults == [(None, "reason")]
    nothing = act(program, "bulks", action="cancel", query="kind:job", reason="x")
    assert (nothing.status, nothing.json["total"], nothing.json["id"]) == (200, 0, None)
    assert not Bulk.objects.exists()


@pytest.mark.parametrize(
    ("path", "body"),
    [("kinds/pause", {"kind": "job"}), ("cancellations", {"ids": [str(UUID(int=1))]})],
)
def test_a_token_that_submits_only_may_not_act(
    program: Program, path: str, body: dict[str, Any]
) -> None:
    admin = Actor("op", role=Role.ADMIN)
    program.token = tokens.create("submits", admin, scopes=(Scope.SUBMIT, Scope.JOBS)).text
    assert act(program, path, **body).status == 403
