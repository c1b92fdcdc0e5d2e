"""What jobs of great size ask of the supervisor: no plan may keep a round from ending."""

from typing import Any

import pytest

from tasks_app.core.jobs.job_states import JobStatus
from tasks_app.core.states import Status
from tasks_app.models import Job, Task
from tasks_app.services.dispatch import rounds
from tasks_app.services.jobs import job_steps
from tasks_app.store.jobs import steps
from tests.jobs import JobFloor

KILOBYTE = 1024
LONG = "x" * 180 * KILOBYTE


@pytest.fixture
def floor(record: None) -> JobFloor:
    made = JobFloor()
    made.hire("w1", slots=200)
    return made


def test_a_fan_out_of_more_than_can_be_written_is_dead_and_holds_nobody_up(floor: JobFloor) -> None:
    job = floor.job(
        [
            {"name": "read", "kind": "a"},
            {
                "name": "each",
                "kind": "b",
                "for_each": {"$result": "read.rows"},
                "payload": {"row": {"$item": ""}, "all": {"$result": "read.text"}},
            },
        ]
    )
    floor.complete("w1", floor.next(), {"rows": [*range(1200)], "text": "x" * 230 * KILOBYTE})
    other = floor.job([{"name": "small", "kind": "a"}])
    floor.complete("w1", floor.next())
    floor.until_still()
    assert floor.steps(job)["each"] is Status.DEAD
    dead = Task.objects.get(job_id=job, status=Status.DEAD)
    assert "of 1,200 items have payloads of more than 16,777,216 char" in floor.error_of(dead)
    assert Task.objects.filter(job_id=job).count() == 2
    assert floor.job_status(other) is JobStatus.COMPLETED
    floor.assert_sound()


def test_a_fan_out_of_ten_thousand_long_texts_is_made_whole(floor: JobFloor) -> None:
    job = floor.job(
        [
            {"name": "read", "kind": "a"},
            {
                "name": "each",
                "kind": "b",
                "for_each": {"$result": "read.rows"},
                "payload": {"say": {"$result": "read.text"}},
            },
        ]
    )
    floor.complete("w1", floor.next(), {"rows": [0] * 10_000, "text": "x" * 1500})
    floor.until_still()
    assert Task.objects.filter(job_id=job, kind="b").count() == 10_000


def test_steps_that_come_to_too_much_together_are_prepared_one_look_after_the_other(
    floor: JobFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_steps, "MOST_PREPARED", 2 * KILOBYTE)
    monkeypatch.setattr(job_steps, "SOURCES_AT_ONCE", 2)
    second = {"name": "second", "kind": "b", "payload": {"text": {"$result": "first"}}}
    jobs = [floor.job([{"name": "first", "kind": "a"}, second]) for _ in range(7)]
    for grant in floor.all_next():
        floor.complete("w1", grant, "x" * KILOBYTE)
    floor.round()
    released = Task.objects.filter(kind="b", unprepared=False)
    assert released.count() == 2
    for grant in floor.all_next():
        floor.complete("w1", grant)
    floor.until_still()
    assert {floor.job_status(job) for job in jobs} == {JobStatus.COMPLETED}
    floor.assert_sound()


def test_a_round_looks_at_more_jobs_than_one_transaction_does(
    floor: JobFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "JOBS_SECONDS", 60.0)
    count = 2 * rounds.JOBS_AT_ONCE + 5
    for _ in range(count):
        floor.job([{"name": "only", "kind": "a"}])
    assert floor.round().jobs == count


def test_a_job_that_cannot_be_looked_at_holds_none_of_the_others_up(
    floor: JobFloor, caplog: pytest.LogCaptureFixture
) -> None:
    two: list[dict[str, Any]] = [
        {"name": "first", "kind": "a"},
        {"name": "second", "kind": "b", "depends_on": ["first"]},
    ]
    found = [floor.job(two) for _ in range(3)]
    broken = Job.objects.get(id=found[0])
    Job.objects.filter(id=broken.id).update(plan={"name": "no steps in it"})
    for _ in two:
        for grant in floor.all_next():
            floor.complete("w1", grant)
    floor.until_still()
    assert [floor.job_status(job) for job in found] == ["RUNNING", "COMPLETED", "COMPLETED"]
    assert caplog.text.count(f"job {broken.id} cannot be looked at") == 1
    broken.save(update_fields=["plan"])
    floor.until_still()
    assert floor.job_status(broken.id) is JobStatus.COMPLETED
    floor.assert_sound()


def test_of_the_results_of_items_no_more_is_read_than_their_join_can_hold(
    floor: JobFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "MOST_READ", 2000)
    monkeypatch.setattr(steps, "MOST_LOOKED_AT", 8000)
    job = floor.job([{"name": "each", "kind": "b", "for_each": [*range(30)]}])
    for number, grant in enumerate(floor.all_next()):
        floor.complete("w1", grant, "x" * 98 if number < 20 else "ab" * 4000)
    join = Task.objects.get(job_id=job, kind="join")
    read = [result for _, _, result in steps.items_of_join(join.id)]
    assert read == ["x" * 98] * 20 + [None] * 10
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPLETED


def test_a_join_of_too_much_says_how_many_items_are_cut(floor: JobFloor) -> None:
    job = floor.job([{"name": "each", "kind": "b", "for_each": [*range(40)]}])
    for grant in floor.all_next():
        floor.complete("w1", grant, "x" * 200 * KILOBYTE)
    floor.until_still()
    found = Job.objects.get(id=job).result
    assert found is not None
    result = found["each"]
    assert len(result) == 5
    assert result[-1] == "[cut: 36 more items]"
    assert result[0].startswith("xxx")


def test_a_step_with_a_result_of_any_size_can_be_undone(floor: JobFloor) -> None:
    job = floor.job(
        [
            {"name": "many", "kind": "a", "compensation": "undo_a", "payload": {"t": LONG}},
            {"name": "fatal", "kind": "b", "depends_on": ["many"]},
        ],
        on_dead="compensate",
    )
    result = {"rows": [*range(12_000)], "text": LONG}
    floor.complete("w1", floor.next(), result)
    floor.fail("w1", floor.next(), permanent=True)
    undo = floor.next()
    assert undo.payload == {"step": "many", "payload": {"t": LONG}, "result": result}
    floor.complete("w1", undo)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.COMPENSATED
    floor.assert_sound()
