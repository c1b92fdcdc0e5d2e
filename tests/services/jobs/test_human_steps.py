"""Steps that people do: taken by one, held for a time, completed as their schema says."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tasks_app.core.jobs.job_states import JobStatus
from tasks_app.core.states import Status
from tasks_app.models import Attempt, AuditEntry, LateResult, Lease, Task, Worker
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.jobs.human_steps import Completed, extend_step
from tasks_app.services.jobs.jobs import cancel_job, pause_job
from tasks_app.services.people.people import NotAllowed, Role
from tasks_app.store.reads.dispatch.round_snapshot import worker_facts
from tasks_app.store.reads.dispatch.series import read_costs, read_oldest
from tasks_app.store.reads.fleet import worker_lists
from tasks_app.store.reads.fleet.live_workers import list_floor, list_unserved_kinds
from tasks_app.store.reads.jobs.inbox import count_waiting, list_held, list_waiting
from tasks_app.store.reads.jobs.jobs import find_job
from tests.people import APPROVED, PeopleFloor


@pytest.fixture
def floor(record: None) -> Iterator[PeopleFloor]:
    floor = PeopleFloor()
    floor.people_do()
    yield floor
    floor.assert_invariants()


def test_no_worker_gets_what_people_do_and_no_sweep_gives_it_up(floor: PeopleFloor) -> None:
    floor.settings(unroutable_grace_seconds=0)
    (task,) = floor.submit(kind="review")
    floor.worker("w1", slots=4, skills={"review": 1.0, "job": 1.0})
    assert floor.round().dispatched == 0
    assert floor.status(task) is Status.PENDING
    assert list_unserved_kinds(90) == []


def test_a_worker_that_offers_what_people_do_is_told_so(floor: PeopleFloor) -> None:
    from tasks_app.sdk.link import Registration
    from tasks_app.services.attempts import worker_protocol

    told = worker_protocol.register(Registration("w1", 1, {"review": 1.0, "job": 1.0}))
    assert told.for_people == ["review"]


def test_a_person_takes_a_step_and_its_result_reaches_what_depends_on_it(
    floor: PeopleFloor,
) -> None:
    floor.hire("w1", slots=2)
    job = floor.job(
        [
            {"name": "ask", "kind": "review"},
            {"name": "go", "kind": "a", "when": {"$result": "ask.approved", "equals": True}},
            {"name": "stop", "kind": "b", "when": {"$result": "ask.approved", "equals": False}},
        ]
    )
    floor.until_still()
    (waiting,) = list_waiting().rows
    assert (waiting.kind, waiting.step, waiting.job_id) == ("review", "ask", job)
    claimed = floor.take(waiting.id)
    assert floor.steps(job)["ask"] is Status.RUNNING
    assert floor.decide(waiting.id, claimed.token, APPROVED).done
    floor.complete("w1", floor.next())
    floor.until_still()
    assert floor.steps(job) == {"ask": "COMPLETED", "go": "COMPLETED", "stop": "SKIPPED"}
    assert floor.job_status(job) is JobStatus.COMPLETED
    assert floor.attempts(waiting.id) == [("completed", "rita")]
    acts = AuditEntry.objects.order_by("id").values_list("action", "actor", "subject")
    assert list(acts) == [("claim", "rita", str(waiting.id)), ("complete", "rita", str(waiting.id))]


def test_only_one_person_has_a_step_and_the_other_is_told_who(floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    claimed = floor.take(task)
    assert floor.refusal(task, "otto") == "rita has it."
    assert floor.decide(task, claimed.token, APPROVED, "otto") == Completed()
    assert floor.status(task) is Status.RUNNING


def test_a_viewer_may_do_none_of_it(floor: PeopleFloor) -> None:
    from tasks_app.services.jobs import human_steps

    (task,) = floor.submit(kind="review")
    viewer = floor.person("vera", Role.VIEWER)
    with pytest.raises(NotAllowed):
        human_steps.claim_step(task, *viewer)
    claimed = floor.take(task)
    for act in (
        lambda: human_steps.complete_step(task, claimed.token, APPROVED, *viewer),
        lambda: human_steps.release_step(task, claimed.token, *viewer),
        lambda: human_steps.extend_step(task, claimed.token, *viewer),
    ):
        with pytest.raises(NotAllowed):
            act()
    assert floor.status(task) is Status.RUNNING


def test_a_result_that_its_schema_refuses_is_told_field_by_field(floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    claimed = floor.take(task)
    found = floor.decide(task, claimed.token, {"severity": 9, "approved": "yes", "more": 1})
    assert not found.done
    assert found.faults == {
        "severity": ["Give 5 or less."],
        "approved": ["It must be of type boolean."],
        "reason": ["Fill this in."],
        "": ["Additional properties are not allowed ('more' was unexpected)."],
    }
    assert floor.status(task) is Status.RUNNING


def test_a_step_whose_time_ran_out_returns_to_the_inbox_and_costs_no_attempt(
    floor: PeopleFloor,
) -> None:
    (task,) = floor.submit(kind="review", max_attempts=1)
    for _ in range(3):
        claimed = floor.take(task)
        floor.round()
        assert floor.status(task) is Status.RUNNING
        floor.time_runs_out(task)
        assert floor.round().reclaimed == 1
        assert (floor.status(task), floor.task(task).attempts) == (Status.PENDING, 0)
    assert floor.attempts(task) == [("expired", "rita")] * 3
    assert not floor.decide(task, claimed.token, APPROVED).done
    late = LateResult.objects.get()
    assert (late.token_held, late.result, late.outcome) == (claimed.token, APPROVED, "completed")
    assert late.overlap_seconds is not None


def test_until_it_is_taken_back_an_answer_after_its_time_still_counts(floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    claimed = floor.take(task)
    floor.time_runs_out(task)
    assert floor.decide(task, claimed.token, APPROVED).done
    assert floor.round().reclaimed == 0


def test_an_extension_gives_the_whole_time_again(floor: PeopleFloor) -> None:
    floor.people_do(person_lease_seconds=60)
    (task,) = floor.submit(kind="review")
    claimed = floor.take(task)
    assert timedelta(seconds=50) < claimed.held_until - timezone.now() <= timedelta(seconds=60)
    floor.time_runs_out(task)
    until = extend_step(task, claimed.token, *floor.person("rita"))
    assert until is not None
    assert until > timezone.now() + timedelta(seconds=50)
    assert floor.round().reclaimed == 0
    assert extend_step(task, claimed.token, *floor.person("otto")) is None
    assert extend_step(task, claimed.token + 1, *floor.person("rita")) is None


def test_neither_silence_nor_the_kind_s_timeout_ends_a_person_s_lease(floor: PeopleFloor) -> None:
    floor.people_do(timeout_seconds=0.001)
    floor.settings(stale_after_seconds=0.2, heartbeat_seconds=0.1, timeout_grace_seconds=0)
    (task,) = floor.submit(kind="review")
    floor.take(task)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE lease SET started_at = started_at - interval '1 day'")
    assert floor.round().reclaimed == 0
    assert floor.status(task) is Status.RUNNING


def test_a_step_that_is_handed_back_waits_for_anybody_again(floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review", max_attempts=1)
    claimed = floor.take(task)
    assert not floor.give_back(task, claimed.token + 1)
    assert not floor.give_back(task, claimed.token, "otto")
    assert floor.give_back(task, claimed.token)
    again = floor.take(task, "otto")
    assert again.token > claimed.token
    assert not floor.give_back(task, claimed.token), "the old token is worth nothing"
    assert floor.attempts(task) == [("released", "rita")]


def test_a_cancel_ends_a_person_s_step_at_once_and_their_answer_is_late(
    floor: PeopleFloor,
) -> None:
    (task,) = floor.submit(kind="review")
    claimed = floor.take(task)
    result = cancel_tasks([task], floor.operator)
    assert (result.done, result.asked) == ({task}, set())
    assert floor.status(task) is Status.CANCELLED
    assert not floor.decide(task, claimed.token, APPROVED).done
    assert LateResult.objects.count() == 1


def test_a_cancelled_job_takes_the_step_from_the_person_who_has_it(floor: PeopleFloor) -> None:
    job = floor.job([{"name": "ask", "kind": "review"}])
    floor.until_still()
    floor.take(list_waiting().rows[0].id)
    assert cancel_job(job, floor.operator)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.CANCELLED
    assert not Lease.objects.exists()


def test_a_deadline_ends_a_step_that_nobody_decided(floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    floor.take(task)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE task SET deadline_at = now() - interval '1 second'")
    floor.round()
    assert (floor.status(task), floor.task(task).dead_reason) == (Status.DEAD, "deadline")


def test_what_cannot_be_taken_says_why(floor: PeopleFloor) -> None:
    (machine,) = floor.submit()
    (later,) = floor.submit(kind="review", run_at=timezone.now() + timedelta(hours=1))
    assert floor.refusal(machine) == "Its kind job is done by workers."
    assert floor.refusal(later) == "Its time has not come yet."
    job = floor.job([{"name": "ask", "kind": "review"}])
    floor.until_still()
    (waiting,) = list_waiting().rows
    assert pause_job(job, floor.operator)
    assert "its job is paused" in floor.refusal(waiting.id)
    floor.people_do(paused=True)
    (held_up,) = floor.submit(kind="review")
    assert floor.refusal(held_up) == "Its kind review is paused."
    assert cancel_tasks([held_up], floor.operator).done
    assert floor.refusal(held_up) == "It is CANCELLED and waits for nobody."


def test_a_lock_that_a_task_holds_keeps_a_person_off_and_the_other_way_round(
    floor: PeopleFloor,
) -> None:
    floor.worker("w1", slots=2)
    (machine,), (step,) = floor.submit(), floor.submit(kind="review")
    Task.objects.update(lock_key="shelf")
    floor.round()
    assert floor.refusal(step) == f"Task {machine} holds its lock."
    (grant,) = floor.claim("w1")
    floor.complete("w1", grant)
    floor.take(step)
    (second,) = floor.submit()
    Task.objects.filter(id=second).update(lock_key="shelf")
    assert floor.round().dispatched == 0
    assert floor.status(second) is Status.PENDING


def test_people_are_no_machines_to_any_figure(floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    claimed = floor.take(task)
    assert worker_facts(90) == []
    assert list_floor() == []
    assert worker_lists.list_live_workers() == []
    assert worker_lists.list_ended_boots() == []
    assert floor.round().in_flight == 0
    assert read_oldest().created is None, "what waits for a person is that person's"
    assert floor.decide(task, claimed.token, APPROVED).done
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(busy_seconds) FROM status_delta")
        assert cursor.fetchone() == (0.0,)
    assert read_costs().task_seconds is None


def test_a_worker_of_the_same_name_leaves_the_person_alone(floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    claimed = floor.take(task, "rita")
    floor.worker("rita")
    floor.round()
    assert floor.decide(task, claimed.token, APPROVED).done
    assert Worker.objects.filter(name="rita").count() == 2


def test_the_inbox_knows_what_waits_what_is_mine_and_what_others_have(floor: PeopleFloor) -> None:
    tasks = floor.submit(4, kind="review")
    floor.take(tasks[0], "rita")
    floor.take(tasks[1], "otto")
    rita, _ = floor.person("rita")
    assert [step.id for step in list_held(rita, mine=True)] == [tasks[0]]
    assert [(s.id, s.person) for s in list_held(rita, mine=False)] == [(tasks[1], "otto")]
    assert [step.id for step in list_waiting().rows] == tasks[2:]
    assert count_waiting() == 2


def test_the_queue_of_the_inbox_is_read_in_pages(
    floor: PeopleFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tasks_app.store.reads.jobs import inbox

    monkeypatch.setattr(inbox, "PAGE", 2)
    floor.people_do("translate")
    tasks = {*floor.submit(3, kind="review"), *floor.submit(2, kind="translate")}
    seen, cursor = [], None
    while True:
        page = list_waiting(cursor)
        seen += [step.id for step in page.rows]
        cursor = page.more and inbox.InboxCursor.read(str(page.more))
        if cursor is None:
            break
    assert len(seen) == 5
    assert set(seen) == tasks


def test_a_requeued_step_begins_anew_for_people(floor: PeopleFloor) -> None:
    from tasks_app.services.actions.operations import requeue

    (task,) = floor.submit(kind="review")
    floor.take(task)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE task SET deadline_at = now() - interval '1 second'")
    floor.round()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE task SET deadline_at = NULL")
    assert requeue([task], floor.operator).done
    assert floor.decide(task, floor.take(task).token, APPROVED).done
    assert Attempt.objects.filter(task_id=task).count() == 2


def test_a_job_says_that_it_waits_for_a_person_and_who_has_the_step(floor: PeopleFloor) -> None:
    job = floor.job([{"name": "ask", "kind": "review"}])
    floor.until_still()
    (step,) = list_waiting().rows

    def asked() -> list[tuple[str, str]]:
        answer = find_job(job)
        assert answer is not None
        assert answer.dead == []
        return [(decision.step, decision.message) for decision in answer.asked]

    assert asked() == [("ask", "It waits in the inbox.")]
    claimed = floor.take(step.id)
    assert asked() == [("ask", "rita has it.")]
    floor.decide(step.id, claimed.token, APPROVED)
    assert asked() == []
