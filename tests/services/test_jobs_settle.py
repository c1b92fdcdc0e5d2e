"""Every small plan settles, whatever happens to its steps and whatever humans do meanwhile."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks_app.core.jobs import JOB_FINAL, JobStatus, Role
from tasks_app.core.states import UNFINISHED, OnDead, Status
from tasks_app.models import Job, StepTask, Task
from tasks_app.sdk.link import Grant
from tasks_app.services import jobs, operations
from tasks_app.services.cancellation import cancel_tasks
from tasks_app.services.people import Actor
from tests.jobs import JobFloor

NAMES = ("s0", "s1", "s2", "s3", "s4")
RESULTS = ({"n": 0, "rows": []}, {"n": 1, "rows": [1, 2]}, {"n": 2}, None)
MOST_TURNS = 60

ON_JOBS: Mapping[str, Callable[[UUID, Actor], bool]] = {
    "pause": jobs.pause_job,
    "resume": jobs.resume_job,
    "end": jobs.cancel_job,
    "undo": jobs.compensate_job,
}
ON_TASKS: Mapping[str, Callable[[Sequence[UUID], Actor, str], object]] = {
    "requeue": operations.requeue,
    "dismiss": operations.dismiss,
    "cancel": cancel_tasks,
}
ACTS = (*["complete"] * 5, "fail", "fail", *ON_TASKS, *ON_JOBS)


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    for name in NAMES[: draw(st.integers(1, len(NAMES)))]:
        earlier = [step["name"] for step in steps]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
        step: dict[str, Any] = {
            "name": name,
            "kind": draw(st.sampled_from(["a", "b"])),
            "depends_on": [
                {"on": on, "on_dead": draw(st.sampled_from(list(OnDead)))} for on in needs
            ],
        }
        if draw(st.integers(0, 3)):
            step["compensation"] = f"undo_{step['kind']}"
        shape = draw(st.sampled_from(["plain", "plain", "when", "reference", "list", "each"]))
        if shape == "list":
            step["for_each"] = draw(st.lists(st.integers(), max_size=3))
            if step["for_each"] and draw(st.booleans()):
                step["quorum"] = draw(st.integers(1, len(step["for_each"])))
        elif earlier:
            on = draw(st.sampled_from(earlier))
            shapes: dict[str, dict[str, Any]] = {
                "when": {"when": {"$result": f"{on}.n", "greater": 0}},
                "reference": {"payload": {"n": {"$result": f"{on}.n"}}},
                "each": {"for_each": {"$result": f"{on}.rows", "default": [1]}},
            }
            step.update(shapes.get(shape, {}))
        steps.append(step)
    return {"steps": steps, "on_dead": draw(st.sampled_from(["ask", "compensate"]))}


Turn = tuple[str, int, int]
turns = st.lists(
    st.tuples(st.sampled_from(ACTS), st.integers(0, 9), st.sampled_from(range(len(RESULTS)))),
    max_size=12,
)


class Play:
    """One job, what its worker holds, and the humans around it."""

    def __init__(self, floor: JobFloor, plan: Mapping[str, Any]) -> None:
        self.floor = floor
        self.job = floor.job(plan["steps"], on_dead=plan["on_dead"])
        self.held: list[Grant] = []

    def look(self) -> None:
        """Let the supervisor work until nothing moves, and take what it hands out."""
        self.floor.until_still()
        self.held += self.floor.claim("w1")
        self.floor.until_still()
        self.check_still()

    def act(self, act: str, which: int, result: int) -> None:
        """Do one act of the worker or of a human, where there is something to do it to."""
        if act in {"complete", "fail"}:
            if self.held:
                self.report(self.held.pop(which % len(self.held)), act, result)
        elif act in ON_JOBS:
            ON_JOBS[act](self.job, self.floor.operator)
        else:
            statuses = UNFINISHED if act == "cancel" else {Status.DEAD}
            tasks = self.tasks(*statuses)
            if tasks:
                ON_TASKS[act]([tasks[which % len(tasks)]], self.floor.operator, "enough")

    def report(self, grant: Grant, act: str, result: int) -> None:
        """Report how a started task ended."""
        if act == "complete":
            self.floor.complete("w1", grant, RESULTS[result])
        else:
            self.floor.fail("w1", grant, permanent=True)

    def tasks(self, *statuses: Status) -> Sequence[UUID]:
        found = Task.objects.filter(job_id=self.job, status__in=statuses)
        return list(found.order_by("id").values_list("id", flat=True))

    def check_still(self) -> None:
        """What does not move has ended, runs, is paused, or waits for a human who has it listed."""
        job = Job.objects.get(id=self.job)
        if job.status in JOB_FINAL:
            assert not self.tasks(*UNFINISHED, Status.DEAD), "an ended job can still move"
        elif not self.held and not job.paused:
            assert self.tasks(Status.DEAD), f"{job.status} waits for nobody"
        if job.status == JobStatus.DEAD:
            assert self.tasks(Status.DEAD)

    def finish(self) -> JobStatus:
        """Let everybody do their part: workers complete, humans dismiss what is left to them."""
        for _ in range(MOST_TURNS):
            jobs.resume_job(self.job, self.floor.operator)
            self.look()
            status = self.floor.job_status(self.job)
            if status in JOB_FINAL:
                return status
            for grant in self.held:
                self.floor.complete("w1", grant, RESULTS[1])
            if not self.held:
                operations.dismiss(self.tasks(Status.DEAD), self.floor.operator, "enough")
            self.held = []
        raise AssertionError(f"the job is still {self.floor.job_status(self.job)}")


@pytest.fixture
def floor(record: None) -> JobFloor:
    made = JobFloor()
    made.hire("w1", slots=50)
    return made


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(plan=plans(), acts=turns)
def test_every_job_settles_and_undoes_in_reverse(
    floor: JobFloor, plan: dict[str, Any], acts: list[Turn]
) -> None:
    play = Play(floor, plan)
    for act, which, result in acts:
        play.look()
        play.act(act, which, result)
    status = play.finish()
    check_compensations(play.job, plan, status)
    floor.assert_sound()


def check_compensations(job: UUID, plan: Mapping[str, Any], status: JobStatus) -> None:
    """Reverse order, once each, for completed steps only; all of them where the job was undone."""
    found = StepTask.objects.filter(task__job_id=job).select_related("task", "undoes")
    undone = sorted(
        (each for each in found if each.role == Role.COMPENSATION), key=lambda each: each.task.id
    )
    ends = [each.undoes.finished_at for each in undone if each.undoes and each.undoes.finished_at]
    assert len(ends) == len(undone)
    assert ends == sorted(ends, reverse=True)
    assert all(each.undoes and each.undoes.status == Status.COMPLETED for each in undone)
    due = {
        each.task_id
        for each in found
        if each.role in (Role.STEP, Role.ITEM)
        and each.task.status == Status.COMPLETED
        and "compensation" in plan["steps"][each.place]
    }
    expected = due if status is JobStatus.COMPENSATED else set()
    assert {each.undoes_id for each in undone} == expected
