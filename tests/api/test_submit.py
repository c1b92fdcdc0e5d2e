"""POST /api/v1/tasks: all or none, every fault by item and field, hostile bodies refused fast."""

import time
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings

from tasks_app.models import Task
from tests.api.conftest import Program
from tests.floor import Floor


def test_one_task_is_submitted_and_found_again(program: Program, floor: Floor) -> None:
    answer = program.post(
        {
            "kind": "job",
            "payload": {"a": [1, "ü"]},
            "key": "k",
            "priority": 2,
            "estimate_seconds": 3,
            "max_attempts": 4,
            "run_at": "2030-01-31T08:00:00+01:00",
            "deadline_at": "2030-02-01T08:00:00+01:00",
            "lock_key": "invoice-7",
            "weight": 2,
        }
    )
    assert answer.status == 201
    assert (answer.json["created"], answer.json["existing"]) == (1, 0)
    (submitted,) = answer.json["tasks"]
    task = floor.task(UUID(submitted["id"]))
    assert (task.kind_id, task.payload, task.key) == ("job", {"a": [1, "ü"]}, "k")
    assert (task.priority, task.estimate_seconds, task.max_attempts) == (2, 3.0, 4)
    assert task.run_at.isoformat() == "2030-01-31T07:00:00+00:00"
    found = program.get(f"tasks/{task.id}").json
    assert (found["lock_key"], found["weight"]) == ("invoice-7", 2.0)
    assert found["deadline_at"] == "2030-02-01T07:00:00Z"


def test_lock_weight_and_deadline_are_refused_by_name(program: Program) -> None:
    answer = program.post(
        {
            "tasks": [
                {"kind": "job", "payload": 1, "lock_key": "", "weight": -1},
                {"kind": "job", "payload": 1, "run_at": "2031-01-01T00:00:00Z"}
                | {"deadline_at": "2030-01-01T00:00:00Z"},
            ]
        }
    )
    assert answer.faults == [(0, "lock_key"), (0, "weight"), (1, "deadline_at")]
    assert program.post({"kind": "job", "payload": 1, "weight": "heavy"}).faults == [(0, "weight")]


def test_a_batch_keeps_its_order_and_its_references(program: Program, floor: Floor) -> None:
    answer = program.post(
        {
            "tasks": [
                {"kind": "job", "payload": 1, "depends_on": [{"on": 1, "name": "label"}]},
                {"kind": "classify_ticket", "payload": {"text": "a"}, "key": "t"},
                {
                    "kind": "job",
                    "payload": 2,
                    "depends_on": [
                        {"on": {"kind": "classify_ticket", "key": "t"}, "on_dead": "continue"}
                    ],
                },
            ]
        }
    )
    assert answer.status == 201
    first, classify, last = (UUID(task["id"]) for task in answer.json["tasks"])
    edges = {
        task: [(e.depends_on_id, e.name, e.on_dead) for e in floor.task(task).dependencies.all()]
        for task in (first, last)
    }
    assert edges == {
        first: [(classify, "label", "wait")],
        last: [(classify, "classify_ticket", "continue")],
    }
    later = program.post({"kind": "job", "payload": 3, "depends_on": [{"on": str(first)}]})
    assert later.status == 201


def test_ten_thousand_at_once_are_accepted_and_one_more_is_not(program: Program) -> None:
    tasks = [{"kind": "job", "payload": {"n": n}} for n in range(10_000)]
    assert program.post({"tasks": tasks}).json["created"] == 10_000
    refused = program.post({"tasks": [*tasks, tasks[0]]})
    assert refused.faults == [(None, "tasks")]
    assert Task.objects.count() == 10_000


def test_a_replay_answers_200_with_the_same_id(program: Program) -> None:
    first = program.post({"kind": "job", "payload": {}}, {"Idempotency-Key": "once"})
    again = program.post({"kind": "job", "payload": {}}, {"Idempotency-Key": "once"})
    field = program.post({"kind": "job", "payload": {}, "key": "once"})
    assert [first.status, again.status, field.status] == [201, 200, 200]
    assert first.json["tasks"][0]["id"] == again.json["tasks"][0]["id"]
    assert again.json["tasks"][0] == field.json["tasks"][0]
    assert (again.json["created"], again.json["existing"]) == (0, 1)


def test_other_content_under_a_key_is_409_by_index_and_nothing_is_submitted(
    program: Program,
) -> None:
    first = program.post({"kind": "job", "payload": {"n": 1}, "key": "k"}).json["tasks"][0]["id"]
    mug = {"kind": "job", "payload": {"n": 2}, "key": "k"}
    batch = {"tasks": [{"kind": "job", "payload": {}}, mug]}
    for body, index in ((mug, 0), (batch, 1)):
        answer = program.post(body)
        assert answer.status == 409
        (fault,) = answer.json["faults"]
        assert (fault["index"], fault["field"], fault["value"]) == (index, "key", '"k"')
        assert first in fault["message"]
    header = program.post({"kind": "job", "payload": {}}, {"Idempotency-Key": "k"})
    assert header.status == 409
    assert Task.objects.count() == 1


def test_a_key_in_the_header_is_for_one_task_and_may_not_contradict(program: Program) -> None:
    header = {"Idempotency-Key": "a"}
    batch = {"tasks": [{"kind": "job", "payload": {}}]}
    assert program.post(batch, header).faults == [(0, "Idempotency-Key")]
    task = {"kind": "job", "payload": {}, "key": "b"}
    assert program.post(task, header).faults == [(0, "key")]


def test_an_instant_that_is_none_is_told_the_form_that_is_one(program: Program) -> None:
    for value in ("tomorrow", "1900000000", "2030-01-31T08:00:00", 1900000000):
        (fault,) = program.post({"kind": "job", "payload": {}, "run_at": value}).json["faults"]
        assert "such as 2030-01-31T08:00:00+01:00" in fault["message"]


def test_every_bad_item_is_named_and_nothing_is_half_done(program: Program) -> None:
    answer = program.post(
        {
            "tasks": [
                {"kind": "job", "payload": {}},
                {"kind": "jub", "payload": {}},
                {"kind": "classify_ticket", "payload": {"text": 5}},
                {"kind": "job", "payload": {}, "depends_on": [{"on": 9}]},
            ]
        }
    )
    assert answer.faults == [(1, "kind"), (2, "payload.text"), (3, "depends_on[0].on")]
    assert answer.json["fault_count"] == 3
    assert answer.json["faults"][1] == {
        "index": 2,
        "field": "payload.text",
        "value": "5",
        "message": 'the kind\'s schema wants type "string"',
    }
    assert not Task.objects.exists()


@pytest.mark.parametrize(
    ("task", "field"),
    [
        ({"kind": "job"}, "payload"),
        ({"payload": {}}, "kind"),
        ({"kind": 5, "payload": {}}, "kind"),
        ({"kind": None, "payload": {}}, "kind"),
        ({"kind": "job", "payload": {}, "priority": "1"}, "priority"),
        ({"kind": "job", "payload": {}, "priority": 1.5}, "priority"),
        ({"kind": "job", "payload": {}, "priority": True}, "priority"),
        ({"kind": "job", "payload": {}, "priority": 10**30}, "priority"),
        ({"kind": "job", "payload": {}, "run_at": "2030-01-31T08:00:00"}, "run_at"),
        ({"kind": "job", "payload": {}, "run_at": 1900000000}, "run_at"),
        ({"kind": "job", "payload": {}, "run_at": "1900000000"}, "run_at"),
        ({"kind": "job", "payload": {}, "run_at": "20300131T080000Z"}, "run_at"),
        ({"kind": "job", "payload": {}, "deadline_at": "2030-01-31"}, "deadline_at"),
        ({"kind": "job", "payload": {}, "run_at": "9999-12-31T23:59:59-12:00"}, "run_at"),
        ({"kind": "job", "payload": {}, "depends_on": {}}, "depends_on"),
        ({"kind": "job", "payload": {}, "depends_on": [{"on": "x"}]}, "depends_on[0].on"),
        ({"kind": "job", "payload": {}, "depends_on": [{"on": True}]}, "depends_on[0].on"),
        ({"kind": "job", "payload": {}, "depends_on": [{"on": 10**40}]}, "depends_on[0].on"),
        ({"kind": "job", "payload": {}, "key": "a\x00"}, "key"),
        ({"kind": "job", "payload": {}, "key": "\ud800"}, "key"),
        ({"kind": "\x00", "payload": {}}, "kind"),
        ({"kind": "job", "payload": {"a": "\x00"}}, "payload.a"),
        ({"kind": "job", "payload": {"a": "\ud800"}}, "payload.a"),
        ({"kind": "job", "payload": {"a": 10**400}}, "payload.a"),
        ({"kind": "job", "payload": "x" * 300_000}, "payload"),
        ({"kind": "job", "payload": list(range(10_001))}, "payload"),
        *(
            ({"kind": "job", "payload": {}, name: 1}, name)
            for name in ("status", "attempts", "token", "assigned_to", "id", "result", "requeues")
        ),
    ],
)
def test_what_is_wrong_with_a_field_is_told(program: Program, task: Any, field: str) -> None:
    for body, index in ((task, 0), ({"tasks": [{"kind": "job", "payload": {}}, task]}, 1)):
        answer = program.post(body)
        assert answer.faults == [(index, field)]
        assert all(fault["message"] for fault in answer.json["faults"])
    assert not Task.objects.exists()


@pytest.mark.parametrize("body", [None, 1, "a", [], {}, {"tasks": 1}, {"tasks": []}, [[]]])
def test_a_body_of_another_shape_is_422(program: Program, body: Any) -> None:
    assert program.post(body).status == 422


def test_a_field_beside_the_batch_is_told(program: Program) -> None:
    body = {"tasks": [{"kind": "job", "payload": {}}], "status": "DEAD"}
    assert program.post(body).faults == [(None, "status")]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "line 1 column 2"),
        (b'{"kind": "job", "payload": NaN}', "NaN"),
        (b'{"kind": "job", "payload": -Infinity}', "Infinity"),
        (b'{"kind": "job", "kind": "job", "payload": 1}', '"kind" stands twice'),
        (b'{"kind": "job", "payload": {"a": 1, "a": 2}}', '"a" stands twice'),
        (b'{"kind": "job", "payload": ' + b"9" * 5000 + b"}", "beyond the range"),
        (b'{"kind": "\xff"}', "UTF-8"),
        ('{"kind": "job"}'.encode("utf-16"), "UTF-8"),
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 100_000, "nested"),
        (b"[" * 30_000_000, "values"),
        (b"[" + b"[]," * 9_000_000 + b"1]", "values"),
    ],
)
def test_what_is_no_json_is_400_and_refused_fast(program: Program, body: bytes, said: str) -> None:
    began = time.perf_counter()
    answer = program.post(body)
    took = time.perf_counter() - began
    assert answer.status == 400
    assert said in answer.json["detail"]
    assert took < 2.0


def test_depth_within_json_is_a_fault_of_the_payload(program: Program) -> None:
    body = b'{"kind": "job", "payload": ' + b"[" * 200 + b"]" * 200 + b"}"
    ((index, field),) = program.post(body).faults
    assert index == 0
    assert field.startswith("payload[0][0]")


def test_an_overlong_body_is_413_by_its_announced_length(program: Program) -> None:
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    assert most == 32 * 1024 * 1024
    assert program.post({}, CONTENT_LENGTH=str(most + 1)).status == 413
    assert program.post({}, CONTENT_LENGTH="9" * 5000).status == 413


@pytest.mark.parametrize(("length", "status"), [("", 411), ("-1", 400), ("abc", 400), ("²", 400)])
def test_a_body_without_a_true_length_is_refused(
    program: Program, length: str, status: int
) -> None:
    assert program.post({"kind": "job", "payload": 1}, CONTENT_LENGTH=length).status == status


def test_no_body_at_all_is_refused(program: Program) -> None:
    assert program.post(b"").status == 411
    assert program.post(b"1", CONTENT_LENGTH="0").faults == [(None, "body")]


def test_another_content_type_is_415(program: Program) -> None:
    assert program.post({}, content_type="application/x-www-form-urlencoded").status == 415
    assert program.post({}, content_type="application/json; charset=utf-8").status == 422
