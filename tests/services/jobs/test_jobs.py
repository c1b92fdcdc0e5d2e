"""Jobs on the real record: steps in order, references, conditions, fan-out, results."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tasks_app.core.jobs.job_states import JobStatus
from tasks_app.core.states import Status
from tasks_app.models import Job, Kind, Task
from tasks_app.services.actions import operations
from tasks_app.services.jobs.jobs import PlanInvalid, submit_job
from tests.jobs import JobFloor


@pytest.fixture
def floor(record: None) -> JobFloor:
    made = JobFloor()
    made.hire("w1", slots=20)
    return made


def test_steps_run_in_order_and_the_result_is_put_together_by_the_mapping(floor: JobFloor) -> None:
    job = floor.job(
        [
            {"name": "classify", "kind": "a", "payload": {"text": "card lost"}},
            {
                "name": "draft",
                "kind": "b",
                "payload": {"about": {"$result": "classify.label"}, "tone": "calm"},
            },
        ],
        result={"label": {"$result": "classify.label"}, "reply": {"$result": "draft"}},
    )
    grant = floor.next()
    assert (grant.kind, grant.payload) == ("a", {"text": "card lost"})
    floor.complete("w1", grant, {"label": "card"})
    grant = floor.next()
    assert (grant.kind, grant.payload) == ("b", {"about": "card", "tone": "calm"})
    assert grant.inputs == {"classify": {"label": "card"}}
    floor.complete("w1", grant, "Dear customer")
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPLETED
    assert Job.objects.get(id=job).result == {"label": "card", "reply": "Dear customer"}
    floor.assert_sound()


def test_a_step_whose_condition_fails_is_skipped_and_so_is_what_hangs_on_it(
    floor: JobFloor,
) -> None:
    job = floor.job(
        [
            {"name": "look", "kind": "a"},
            {"name": "review", "kind": "a", "when": {"$result": "look.sure", "less": 0.7}},
            {"name": "after_review", "kind": "a", "depends_on": ["review"]},
            {
                "name": "close",
                "kind": "b",
                "depends_on": ["look", {"on": "review", "on_dead": "continue"}],
            },
        ]
    )
    floor.complete("w1", floor.next(), {"sure": 0.9})
    grant = floor.next()
    assert grant.kind == "b"
    assert grant.inputs == {"look": {"sure": 0.9}, "review": None}
    floor.complete("w1", grant, "closed")
    floor.until_still()
    assert floor.steps(job) == {
        "look": Status.COMPLETED,
        "review": Status.SKIPPED,
        "after_review": Status.SKIPPED,
        "close": Status.COMPLETED,
    }
    assert floor.job_status(job) is JobStatus.COMPLETED
    assert Job.objects.get(id=job).result == {"after_review": None, "close": "closed"}
    floor.assert_sound()


def test_steps_carry_lock_weight_and_deadline_to_their_tasks(floor: JobFloor) -> None:
    job = floor.job(
        [
            {"name": "look", "kind": "a", "lock_key": "desk", "weight": 2, "deadline_seconds": 60},
            {"name": "book", "kind": "b", "lock_key": {"$result": "look.customer"}},
            {
                "name": "rows",
                "kind": "a",
                "for_each": {"$result": "look.rows"},
                "lock_key": {"$item": "account"},
                "deadline_seconds": 3600,
            },
        ]
    )
    began = Job.objects.get(id=job).created_at
    look = Task.objects.get(lock_key="desk")
    assert (look.weight, look.deadline_at) == (2.0, began + timedelta(seconds=60))
    rows = [{"account": "K1"}, {"account": "K2"}, {"account": "K1"}]
    floor.complete("w1", floor.next(), {"customer": 4711, "rows": rows})
    granted = floor.all_next()
    assert sorted(floor.task(g.task_id).lock_key or "" for g in granted) == ["4711", "K1", "K2"]
    items = Task.objects.filter(step__role="item")
    assert {item.deadline_at for item in items} == {began + timedelta(hours=1)}
    assert Task.objects.get(step__role="join").deadline_at is None
    floor.assert_sound()


def test_a_lock_that_is_no_text_leaves_the_step_dead_with_the_reason(floor: JobFloor) -> None:
    job = floor.job(
        [{"name": "a", "kind": "a"}, {"name": "b", "kind": "b", "lock_key": {"$result": "a"}}]
    )
    floor.complete("w1", floor.next(), {"customer": "K1"})
    floor.until_still()
    assert floor.steps(job)["b"] is Status.DEAD
    message = floor.error_of(Task.objects.get(kind="b"))
    assert message == "lock_key of payload: give a text, got {'customer': 'K1'}"


def test_an_item_past_its_deadline_fails_its_join(floor: JobFloor) -> None:
    job = floor.job([{"name": "rows", "kind": "a", "for_each": [1, 2], "deadline_seconds": 60}])
    floor.until_still()
    Task.objects.filter(step__role="item").update(deadline_at=datetime.now(UTC))
    floor.until_still()
    assert floor.steps(job)["rows"] is Status.DEAD
    assert floor.job_status(job) is JobStatus.DEAD
    floor.assert_sound()


def test_for_each_makes_a_task_per_item_and_joins_their_results_in_order(floor: JobFloor) -> None:
    job = floor.job(
        [
            {"name": "split", "kind": "a"},
            {
                "name": "each",
                "kind": "b",
                "for_each": {"$result": "split.rows"},
                "payload": {"row": {"$item": "n"}},
            },
            {"name": "sum", "kind": "a", "payload": {"all": {"$result": "each"}}},
        ]
    )
    floor.complete("w1", floor.next(), {"rows": [{"n": 1}, {"n": 2}, {"n": 3}]})
    grants = floor.all_next()
    assert sorted(g.payload["row"] for g in grants) == [1, 2, 3]
    assert all(g.inputs == {"split": {"rows": [{"n": 1}, {"n": 2}, {"n": 3}]}} for g in grants)
    for grant in reversed(grants):
        floor.complete("w1", grant, grant.payload["row"] * 10)
    grant = floor.next()
    assert grant.payload == {"all": [10, 20, 30]}
    floor.complete("w1", grant, 60)
    floor.until_still()
    assert Job.objects.get(id=job).result == {"sum": 60}
    floor.assert_sound()


def test_a_list_without_items_is_joined_at_once(floor: JobFloor) -> None:
    job = floor.job([{"name": "each", "kind": "a", "for_each": []}])
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPLETED
    assert Job.objects.get(id=job).result == {"each": []}


def test_a_quorum_completes_the_join_and_lets_the_others_go(floor: JobFloor) -> None:
    job = floor.job([{"name": "ask", "kind": "a", "for_each": [1, 2, 3], "quorum": 2}])
    one, two, three = sorted(floor.all_next(), key=lambda g: g.token)
    floor.complete("w1", one, "yes")
    floor.until_still()
    assert floor.job_status(job) is JobStatus.RUNNING
    floor.complete("w1", two, "no")
    floor.until_still()
    assert floor.job_status(job) is JobStatus.RUNNING, "the third still runs"
    assert floor.beat("w1", three).cancel == [three.token]
    floor.let_go("w1", three)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPLETED
    assert Job.objects.get(id=job).result == {"ask": ["yes", "no", None]}
    floor.assert_sound()


def test_a_join_that_its_items_cannot_complete_is_dead_and_comes_back_with_them(
    floor: JobFloor,
) -> None:
    job = floor.job([{"name": "ask", "kind": "a", "for_each": [1, 2]}])
    one, two = floor.all_next()
    floor.complete("w1", one, "yes")
    floor.fail("w1", two, permanent=True)
    floor.until_still()
    assert floor.steps(job) == {"ask": Status.DEAD}
    assert floor.job_status(job) is JobStatus.DEAD
    operations.requeue([two.task_id], floor.operator)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.RUNNING
    floor.complete("w1", floor.next(), "no")
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPLETED
    assert Job.objects.get(id=job).result == {"ask": ["yes", "no"]}
    floor.assert_sound()


def test_a_step_that_cannot_be_filled_in_is_dead_and_says_what_is_missing(floor: JobFloor) -> None:
    job = floor.job(
        [
            {"name": "look", "kind": "a"},
            {"name": "use", "kind": "a", "payload": {"x": {"$result": "look.label"}}},
        ]
    )
    floor.complete("w1", floor.next(), {"other": 1})
    floor.until_still()
    dead = Task.objects.get(status=Status.DEAD)
    assert dead.dead_reason == "permanent"
    assert floor.error_of(dead) == "payload: the result of look has no label"
    assert floor.job_status(job) is JobStatus.DEAD
    operations.requeue([dead.id], floor.operator)
    floor.until_still()
    assert floor.steps(job)["use"] is Status.DEAD, "a requeue looks again"
    floor.assert_sound()


def test_a_substituted_payload_is_held_against_its_kinds_schema(floor: JobFloor) -> None:
    Kind.objects.filter(name="b").update(payload_schema={"properties": {"n": {"type": "integer"}}})
    floor.job(
        [
            {"name": "look", "kind": "a"},
            {"name": "use", "kind": "b", "payload": {"n": {"$result": "look"}}},
        ]
    )
    floor.complete("w1", floor.next(), "many")
    floor.until_still()
    dead = Task.objects.get(status=Status.DEAD)
    assert "payload.n: the kind's schema wants type" in floor.error_of(dead)


def test_a_plan_with_faults_writes_nothing_and_names_them_all(floor: JobFloor) -> None:
    with pytest.raises(PlanInvalid) as refused:
        submit_job(
            {
                "steps": [
                    {"name": "x", "kind": "aa", "depends_on": ["y"]},
                    {"name": "y", "kind": "b", "depends_on": ["x", "gone"]},
                ]
            }
        )
    assert [fault.place for fault in refused.value.faults] == [
        "steps[0].kind",
        "steps[1].depends_on[1]",
        "steps",
    ]
    assert "x -> y -> x" in refused.value.faults[2].message
    assert (Job.objects.count(), Task.objects.count()) == (0, 0)


def test_a_second_submission_of_a_key_is_the_first_ones_job(floor: JobFloor) -> None:
    plan: dict[str, Any] = {"key": "day-1", "steps": [{"name": "x", "kind": "a"}]}
    first, second = submit_job(plan), submit_job(plan)
    assert (first.created, second.created, second.id) == (True, False, first.id)
    assert Task.objects.count() == 1


def test_a_failure_that_the_plan_provides_for_does_not_stop_the_job(floor: JobFloor) -> None:
    job = floor.job(
        [
            {"name": "hint", "kind": "a"},
            {
                "name": "answer",
                "kind": "b",
                "payload": {"hint": {"$result": "hint.text"}},
                "depends_on": [{"on": "hint", "on_dead": "continue"}],
            },
        ],
        on_dead="compensate",
    )
    floor.fail("w1", floor.next(), permanent=True)
    grant = floor.next()
    assert grant.payload == {"hint": None}
    floor.complete("w1", grant, "done")
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPLETED
    assert floor.steps(job)["hint"] is Status.DISMISSED, "nothing of an ended job can move"
    floor.assert_sound()


def test_the_steps_of_a_job_with_a_key_have_keys_that_name_them(floor: JobFloor) -> None:
    floor.hire("w1", slots=1)
    steps = [{"name": "first", "kind": "a"}, {"name": "second", "kind": "b"}]
    job = floor.job(steps, key="day:1")
    assert set(Task.objects.values_list("key", flat=True)) == {"day:1/first", "day:1/second"}
    assert floor.job(steps, key="day:1") == job
    floor.job(steps, key="k" * 200)
    assert Task.objects.filter(key=None).count() == 2, "a key that is too long is none"
    floor.submit(kind="b", key="day:2/second")
    with pytest.raises(PlanInvalid, match="key: another task has the key day:2/STEP"):
        floor.job(steps, key="day:2")
    assert not Job.objects.filter(key="day:2").exists()
