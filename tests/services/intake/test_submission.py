"""Submitting on the real record: all or nothing, keys, faults by item and field."""

import json
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks_app import events
from tasks_app.core.intake.payloads import check_payload
from tasks_app.core.states import Status
from tasks_app.models import Task
from tasks_app.services.dispatch.listening import Listener
from tasks_app.services.intake.submission import (
    Dependency,
    KeyRef,
    NewTask,
    SubmissionInvalid,
    SubmitReport,
    submit,
    submit_tasks,
)
from tests.floor import Floor
from tests.waiting import wait_for

DUE = datetime(2030, 1, 31, 8, tzinfo=UTC)
TICKET = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}


@pytest.fixture(autouse=True)
def kinds(floor: Floor) -> None:
    floor.kind("job")
    floor.kind("classify_ticket", payload_schema=TICKET, max_attempts=5, estimate_seconds=2.5)
    floor.kind("draft_reply")


def faults_of(tasks: Sequence[NewTask]) -> list[tuple[int, str]]:
    """(index, field) of every fault; nothing may have been written."""
    before = Task.objects.count()
    with pytest.raises(SubmissionInvalid) as raised:
        submit_tasks(tasks)
    assert Task.objects.count() == before
    return [(fault.index, fault.field) for fault in raised.value.faults]


def message_of(task: NewTask) -> str:
    with pytest.raises(SubmissionInvalid) as raised:
        submit_tasks([task])
    (fault,) = raised.value.faults
    return str(fault)


def test_a_task_is_pending_with_what_was_given_and_its_kinds_defaults(floor: Floor) -> None:
    later = datetime(2030, 1, 31, 8, tzinfo=UTC)
    task_id = submit("classify_ticket", {"text": "Grüezi"}, key="t-1", priority=3, run_at=later)
    task = floor.task(task_id)
    assert (task.status, task.payload, task.key) == (Status.PENDING, {"text": "Grüezi"}, "t-1")
    assert (task.max_attempts, task.estimate_seconds, task.run_at) == (5, 2.5, later)
    assert task.queue_at == later - timedelta(seconds=3 * 60)
    floor.assert_counts_are_true()


def test_a_task_carries_its_lock_its_weight_and_its_deadline(floor: Floor) -> None:
    row = floor.task(submit("job", {}, lock_key="invoice-7", weight=2.5, deadline_at=DUE))
    assert (row.lock_key, row.weight, row.deadline_at) == ("invoice-7", 2.5, DUE)
    plain = floor.task(submit("job", {}))
    assert (plain.lock_key, plain.weight, plain.deadline_at) == (None, 1.0, None)


def test_a_deadline_before_its_start_is_refused_with_both_instants() -> None:
    late = NewTask("job", {}, run_at=DUE, deadline_at=DUE)
    assert message_of(late).startswith(
        "item 0: deadline_at: not after its run_at, 2030-01-31T08:00:00+00:00; it could never run"
    )


def test_a_deadline_that_has_passed_is_taken_and_the_task_is_dead_with_that_reason(
    floor: Floor,
) -> None:
    task = submit("job", {}, deadline_at=datetime(2020, 1, 1, tzinfo=UTC))
    floor.round()
    assert floor.task(task).dead_reason == "deadline", "a second submission of a key stays the same"


def test_a_bad_item_names_itself_and_nothing_is_half_done() -> None:
    good = NewTask("job", {})
    assert faults_of([good, NewTask("jib", {}), good, NewTask("job", {}, priority=5000)]) == [
        (1, "kind"),
        (3, "priority"),
    ]


@pytest.mark.parametrize(
    ("task", "field"),
    [
        (NewTask("job", {}, key=""), "key"),
        (NewTask("job", {}, key="x" * 201), "key"),
        (NewTask("job", {}, key="a\x00b"), "key"),
        (NewTask("job", {}, key="a\ud800b"), "key"),
        (NewTask("job", {}, priority=True), "priority"),
        (NewTask("job", {}, estimate_seconds=0.0), "estimate_seconds"),
        (NewTask("job", {}, estimate_seconds=float("nan")), "estimate_seconds"),
        (NewTask("job", {}, max_attempts=0), "max_attempts"),
        (NewTask("job", {}, max_attempts=101), "max_attempts"),
        (NewTask("job", {}, run_at=datetime(2030, 1, 1)), "run_at"),  # noqa: DTZ001  the fault
        (NewTask("job", {}, run_at=datetime.max.replace(tzinfo=UTC)), "run_at"),
        (NewTask("job", {"a": [1, float("nan")]}), "payload.a[1]"),
        (NewTask("job", {"a": {"b": "\x00"}}), "payload.a.b"),
        (NewTask("job", {"a": {1, 2}}), "payload.a"),
        (NewTask("job", {"a": "x" * 300_000}), "payload"),
        (NewTask("job", {}, depends_on=[Dependency(uuid4(), name="")]), "depends_on[0].name"),
        (
            NewTask("job", {}, depends_on=[Dependency(uuid4(), on_dead="x")]),
            "depends_on[0].on_dead",
        ),
        (NewTask("job", {}, depends_on=[Dependency(0)]), "depends_on[0].on"),
        (NewTask("job", {}, depends_on=[Dependency(7)]), "depends_on[0].on"),
        (NewTask("job", {}, depends_on=[Dependency(-1)]), "depends_on[0].on"),
        (NewTask("job", {}, depends_on=[Dependency(uuid4())]), "depends_on[0].on"),
        (NewTask("job", {}, depends_on=[Dependency(KeyRef("job", "none"))]), "depends_on[0].on"),
        (NewTask("job", {}, depends_on=[Dependency(KeyRef("job", "\x00"))]), "depends_on[0].on"),
        (
            NewTask("job", {}, key="me", depends_on=[Dependency(KeyRef("job", "me"))]),
            "depends_on[0].on",
        ),
        (NewTask("job", {}, lock_key=" "), "lock_key"),
        (NewTask("job", {}, lock_key="x" * 201), "lock_key"),
        (NewTask("job", {}, weight=0), "weight"),
        (NewTask("job", {}, weight=float("nan")), "weight"),
        (NewTask("job", {}, weight=2e6), "weight"),
        (NewTask("job", {}, deadline_at=DUE.replace(tzinfo=None)), "deadline_at"),
        (NewTask("classify_ticket", {"text": 5}), "payload.text"),
        (NewTask("classify_ticket", {}), "payload"),
    ],
)
def test_each_fault_is_found_before_a_row_is_written(task: NewTask, field: str) -> None:
    assert faults_of([task]) == [(0, field)]


def test_every_fault_of_a_batch_is_told_at_once_those_of_the_record_too() -> None:
    batch = [
        NewTask("job", {}, priority=9999, key="\x00"),
        NewTask("job", {}, depends_on=[Dependency(uuid4())]),
        NewTask("job", float("inf")),
    ]
    assert faults_of(batch) == [
        (0, "key"),
        (0, "priority"),
        (1, "depends_on[0].on"),
        (2, "payload"),
    ]


def test_an_unknown_kind_names_the_near_miss_and_the_kinds_there_are() -> None:
    message = message_of(NewTask("clasify_ticket", {}))
    assert "did you mean classify_ticket?" in message
    assert "draft_reply" in message


def test_a_fault_of_the_schema_says_what_is_wanted_and_what_came() -> None:
    assert message_of(NewTask("classify_ticket", {"text": 5})) == (
        'item 0: payload.text: the kind\'s schema wants type "string", got 5'
    )
    assert "'text' is a required property" in message_of(NewTask("classify_ticket", {"txt": "a"}))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "no type"},
        {"$ref": "#"},
        {"$ref": "https://example.invalid/schema.json"},
        {"properties": {"a": {"pattern": "("}}},
        False,
    ],
)
def test_a_broken_schema_is_a_fault_and_no_crash(floor: Floor, schema: Any) -> None:
    floor.kind("odd", payload_schema=schema)
    assert faults_of([NewTask("odd", {"a": "b"})])[0][0] == 0


def test_a_reference_of_a_schema_is_never_fetched(floor: Floor) -> None:
    asked: list[str] = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            address = f"http://127.0.0.1:{server.server_port}/schema.json"
            floor.kind("far", payload_schema={"$ref": address})
            assert address in message_of(NewTask("far", {}))
        finally:
            server.shutdown()
            serving.join()
    assert asked == []


def test_the_same_key_twice_in_a_batch_is_a_fault_of_the_second_where_its_content_differs() -> None:
    tasks = [NewTask("job", {}, key="a"), NewTask("draft_reply", {}, key="a")]
    assert submit_tasks(tasks).created_count == 2, "a key belongs to its kind"
    assert submit_tasks([*tasks, NewTask("job", {}, key="a")]).existing_count == 3
    assert faults_of([*tasks, NewTask("job", 7, key="a")]) == [(2, "key")]


def test_a_key_on_record_returns_the_id_on_record(floor: Floor) -> None:
    first = submit_tasks([NewTask("job", {"n": 1}, key="a")])
    second = submit_tasks([NewTask("job", {"n": 2}, key="b"), NewTask("job", {"n": 1}, key="a")])
    assert second.created == [True, False]
    assert (second.created_count, second.existing_count) == (1, 1)
    assert second.ids[1] == first.ids[0]
    assert floor.task(first.ids[0]).payload == {"n": 1}
    floor.assert_counts_are_true()


def test_a_dry_run_writes_nothing_and_says_what_would_be_new(floor: Floor) -> None:
    submit("job", {}, key="a")
    batch = [NewTask("job", {}, key="a"), NewTask("job", {}, depends_on=[Dependency(0)])]
    report = submit_tasks(batch, dry_run=True)
    assert report.created == [False, True]
    assert Task.objects.count() == 1
    assert not Task.objects.filter(has_dependents=True).exists()
    floor.assert_counts_are_true()


def test_an_empty_batch_is_no_fault() -> None:
    assert submit_tasks([]).ids == []


def test_a_batch_of_references_runs_in_their_order(floor: Floor) -> None:
    floor.worker("w1", slots=9, skills={"job": 1, "classify_ticket": 1, "draft_reply": 1})
    recorded = submit("job", {"n": 0}, key="on record")
    report = submit_tasks(
        [
            NewTask("draft_reply", {}, depends_on=[Dependency(1), Dependency(recorded)]),
            NewTask("classify_ticket", {"text": "a"}, key="c"),
            NewTask(
                "job",
                {},
                depends_on=[
                    Dependency(KeyRef("classify_ticket", "c"), name="label"),
                    Dependency(KeyRef("job", "on record"), name="before"),
                ],
            ),
        ]
    )
    draft, classify, last = report.ids
    assert [floor.task(task).waiting_on for task in report.ids] == [2, 0, 2]
    floor.round()
    first = floor.claim("w1")
    assert {grant.task_id for grant in first} == {recorded, classify}
    for grant in first:
        floor.complete("w1", grant, {"of": grant.kind})
    floor.round()
    inputs = {grant.task_id: grant.inputs for grant in floor.claim("w1")}
    assert inputs == {
        draft: {"classify_ticket": {"of": "classify_ticket"}, "job": {"of": "job"}},
        last: {"label": {"of": "classify_ticket"}, "before": {"of": "job"}},
    }


def test_a_circle_is_a_fault_that_shows_its_path() -> None:
    def waits_for(key: str) -> list[Dependency]:
        return [Dependency(KeyRef("job", key))]

    with pytest.raises(SubmissionInvalid, match="circle") as raised:
        submit_tasks(
            [
                NewTask("job", {}, key="a", depends_on=waits_for("c")),
                NewTask("job", {}, key="b", depends_on=[Dependency(0)]),
                NewTask("job", {}, key="c", depends_on=waits_for("b")),
            ]
        )
    (fault,) = raised.value.faults
    assert fault.value in {"0 -> 1 -> 2 -> 0", "2 -> 0 -> 1 -> 2", "1 -> 2 -> 0 -> 1"}


def test_two_inputs_of_one_name_and_the_same_task_twice_are_faults() -> None:
    needed = submit_tasks([NewTask("job", {}, key="x"), NewTask("job", {})])
    assert faults_of(
        [NewTask("job", {}, depends_on=[Dependency(needed.ids[0]), Dependency(needed.ids[1])])]
    ) == [(0, "depends_on")]
    same = [Dependency(needed.ids[0], name="a"), Dependency(KeyRef("job", "x"), name="b")]
    assert faults_of([NewTask("job", {}, depends_on=same)]) == [(0, "depends_on")]


def ended(floor: Floor, *, dead: bool) -> UUID:
    """A task that was completed, or is DEAD."""
    if not floor.workers:
        floor.worker("w1", slots=4)
    task_id = submit("job", {})
    floor.round()
    (grant,) = floor.claim("w1")
    if dead:
        floor.fail("w1", grant, permanent=True)
    else:
        floor.complete("w1", grant, {"label": "card"})
    return task_id


def test_a_dependency_that_is_completed_already_holds_nothing_back(floor: Floor) -> None:
    done = ended(floor, dead=False)
    task_id = submit("job", {}, depends_on=[Dependency(done, name="before")])
    assert floor.task(task_id).waiting_on == 0
    floor.round()
    (grant,) = floor.claim("w1")
    assert grant.inputs == {"before": {"label": "card"}}


def test_a_dead_dependency_waits_for_the_human_goes_without_or_is_refused(floor: Floor) -> None:
    dead = ended(floor, dead=True)
    waits = submit("job", {}, depends_on=[Dependency(dead)])
    assert [e.state for e in floor.task(waits).dependencies.all()] == ["blocked"]
    assert floor.task(waits).waiting_on == 1
    without = submit("job", {}, depends_on=[Dependency(dead, on_dead="continue")])
    assert floor.task(without).waiting_on == 0
    message = message_of(NewTask("job", {}, depends_on=[Dependency(dead, on_dead="fail")]))
    assert "that task is DEAD" in message


def test_a_replay_is_accepted_though_its_dependency_was_dismissed_since(floor: Floor) -> None:
    from tasks_app.services.actions import operations
    from tasks_app.services.people.people import Actor

    dead = ended(floor, dead=True)
    task = NewTask("job", {}, key="again", depends_on=[Dependency(dead)])
    first = submit_tasks([task])
    operations.dismiss([dead], Actor("op"), "spam")
    assert submit_tasks([task]).ids == first.ids
    assert "DISMISSED" in message_of(NewTask("job", {}, depends_on=[Dependency(dead)]))


def test_a_batch_wakes_the_supervisor_once_and_a_replay_does_not() -> None:
    with Listener(events.SUPERVISOR) as listener:
        assert not listener.wait(0.05), "it listens from its first wait on"
        submit_tasks([NewTask("job", {}, key=str(n)) for n in range(50)])
        assert listener.wait(5.0) == [""]
        assert not listener.wait(0.2), "one hint a batch"
        submit_tasks([NewTask("job", {}, key=str(n)) for n in range(50)])
        assert not listener.wait(0.2)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(payload=anything)
def test_what_is_accepted_comes_back_as_it_was_and_the_rest_is_refused(payload: Any) -> None:
    if check_payload(payload):
        with pytest.raises(SubmissionInvalid) as raised:
            submit("job", payload)
        assert all(fault.field.startswith("payload") for fault in raised.value.faults)
    else:
        task_id = submit("job", payload)
        # jsonb writes a whole double without an exponent, and Python then reads an integer.
        assert as_doubles(Task.objects.get(id=task_id).payload) == as_doubles(payload)


def as_doubles(value: Any) -> Any:
    return json.loads(json.dumps(value), parse_int=float)


def test_two_connections_with_the_same_keys_make_each_task_once(floor: Floor) -> None:
    keys = [f"k{n}" for n in range(200)]
    reports: dict[str, SubmitReport] = {}
    start = threading.Barrier(2)

    def submit_in(name: str, order: Sequence[str]) -> None:
        try:
            start.wait(10)
            reports[name] = submit_tasks(
                [
                    *(NewTask("job", {"of": key}, key=key) for key in order),
                    NewTask("job", {}, depends_on=[Dependency(KeyRef("job", "k7"))]),
                ]
            )
        finally:
            connection.close()

    threads = [
        threading.Thread(target=submit_in, args=("a", keys)),
        threading.Thread(target=submit_in, args=("b", keys[::-1])),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(reports["a"].ids[:-1]) == sorted(reports["b"].ids[:-1])
    assert Task.objects.filter(key__isnull=False).count() == 200
    assert sum(report.created_count for report in reports.values()) == 202
    floor.assert_counts_are_true()


def test_the_loser_of_a_race_resolves_to_the_winners_task(floor: Floor) -> None:
    """The winner holds its key uncommitted until the loser is seen waiting for it."""
    lost: list[SubmitReport] = []

    def lose() -> None:
        try:
            batch = [
                NewTask("job", {"n": 1}, key="k"),
                NewTask("draft_reply", {}, depends_on=[Dependency(0)]),
            ]
            lost.append(submit_tasks(batch))
        finally:
            connection.close()

    loser = threading.Thread(target=lose)
    with transaction.atomic():
        won = submit_tasks([NewTask("job", {"n": 1}, key="k")])
        loser.start()
        wait_for(somebody_waits_for_a_lock, "the loser waits for the winner's key")
    loser.join(15)
    (report,) = lost
    assert report.created == [False, True]
    assert report.ids[0] == won.ids[0]
    (edge,) = floor.task(report.ids[1]).dependencies.all()
    assert edge.depends_on_id == won.ids[0]
    assert floor.task(won.ids[0]).has_dependents
    assert Task.objects.count() == 2


def somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND datname = current_database()"
        )
        return bool(cursor.fetchone()[0])
