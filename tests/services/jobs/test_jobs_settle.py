"""Every small plan settles, whatever happens to its steps and whatever humans do meanwhile."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

import pytest
from django.db.models.functions import Now
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks_app.core.jobs.job_states import JOB_FINAL, JobStatus, Role
from tasks_app.core.states import ACTIVE, UNFINISHED, EdgeState, OnDead, Status
from tasks_app.models import Dependency, Job, Kind, StepTask, Task
from tasks_app.sdk.link import Grant
from tasks_app.services.actions import operations
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.jobs import jobs
from tasks_app.services.people.people import Actor
from tasks_app.store.dispatch import breakers
from tasks_app.store.reads.failures.dead_letters import DeadFilter, list_dead
from tasks_app.store.reads.jobs.inbox import list_waiting
from tests.people import APPROVED, PeopleFloor

NAMES = ("s0", "s1", "s2", "s3", "s4")
RESULTS = ({"n": 0, "rows": []}, {"n": 1, "rows": [1, 2]}, {"n": 2}, None)
MOST_TURNS = 60
OPEN_EDGES = (EdgeState.WAITING, EdgeState.BLOCKED)

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
ACTS = (*["complete"] * 5, "fail", "fail", "fail again", "let go", "lose the worker",
        "take", "answer", "hand back", "run out of time", *ON_TASKS, *ON_JOBS)  # fmt: skip
KINDS = ("a", "b", "a", "b", "review")
"""``review`` is done by people."""


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    for name in NAMES[: draw(st.integers(1, len(NAMES)))]:
        earlier = [step["name"] for step in steps]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
        step: dict[str, Any] = {
            "name": name,
            "kind": draw(st.sampled_from(KINDS)),
            "depends_on": [
                {"on": on, "on_dead": draw(st.sampled_from(list(OnDead)))} for on in needs
            ],
        }
        if draw(st.integers(0, 3)):
            step["compensation"] = "undo_b" if step["kind"] == "b" else "undo_a"
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
    """One job, what its worker and its person hold, and the humans around it."""

    def __init__(self, floor: PeopleFloor, plan: Mapping[str, Any]) -> None:
        self.floor = floor
        self.job = floor.job(plan["steps"], on_dead=plan["on_dead"])
        self.held: list[Grant] = []
        self.taken: list[tuple[UUID, int]] = []

    def look(self) -> None:
        """Let the supervisor work until nothing moves, and take what it hands out."""
        Task.objects.filter(status=Status.FAILED).update(run_at=Now())
        # Workers lost over and over have a kind quarantined, which an operator sees and ends.
        for kind in Kind.objects.filter(quarantined_at__isnull=False):
            breakers.free_kind(kind.name)
        self.floor.until_still()
        self.held += self.floor.claim("w1")
        self.floor.until_still()
        self.check_still()

    def act(self, act: str, which: int, result: int) -> None:
        """Do one act of the worker or of a human, where there is something to do it to."""
        if act in {"complete", "fail", "fail again", "let go"}:
            if self.held:
                self.report(self.held.pop(which % len(self.held)), act, result)
        elif act == "lose the worker":
            self.floor.hire("w1", slots=50)
            self.held = []
        elif act in {"take", "answer", "hand back", "run out of time"}:
            self.as_a_person(act, which)
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
        elif act == "let go":
            self.floor.let_go("w1", grant)
        else:
            self.floor.fail("w1", grant, permanent=act == "fail")

    def as_a_person(self, act: str, which: int) -> None:
        """Take a step from the inbox, or end one that was taken, in time or too late."""
        waiting = self.inbox()
        if act == "take":
            if waiting:
                task = waiting[which % len(waiting)]
                self.taken.append((task, self.floor.take(task).token))
        elif self.taken:
            task, token = self.taken.pop(which % len(self.taken))
            if act == "answer":
                self.floor.decide(task, token, APPROVED)
            elif act == "hand back":
                self.floor.give_back(task, token)
            else:
                self.floor.time_runs_out(task)

    def inbox(self) -> Sequence[UUID]:
        """What waits for any person."""
        return [step.id for step in list_waiting().rows if step.job_id == self.job]

    def tasks(self, *statuses: Status) -> Sequence[UUID]:
        found = Task.objects.filter(job_id=self.job, status__in=statuses)
        return list(found.order_by("id").values_list("id", flat=True))

    def check_still(self) -> None:
        """What does not move has ended, is in work, is paused, or waits for a human who sees it."""
        job = Job.objects.get(id=self.job)
        dead = set(self.tasks(Status.DEAD))
        listed = {row.id for row in list_dead(DeadFilter()).rows}
        assert dead <= listed, "a decision that nobody is asked for"
        if job.status in JOB_FINAL:
            assert not self.tasks(*UNFINISHED, Status.DEAD), "an ended job can still move"
            return
        if job.status == JobStatus.DEAD:
            assert dead
        if job.paused:
            return
        moving = set(self.tasks(*ACTIVE)) | set(self.inbox()) | dead
        assert moving, f"{job.status} waits for nobody: {self.told()}"
        needs = self.needs()
        for task in self.tasks(Status.PENDING):
            assert self.reaches(task, needs, moving), f"{task} waits for nobody"

    def told(self) -> Sequence[tuple[str, ...]]:
        """What stands on record, for the message of a failure."""
        rows = StepTask.objects.filter(task__job_id=self.job).order_by("place", "item")
        found = rows.values_list("place", "role", "item", "task__kind", "task__status",
                                 "task__waiting_on", "task__holds", "task__attempts")  # fmt: skip
        return [tuple(map(str, row)) for row in found]

    def needs(self) -> Mapping[UUID, Sequence[UUID]]:
        """What each task waits for: dependencies that are not met, and a join for its items."""
        needs: dict[UUID, list[UUID]] = {}
        edges = Dependency.objects.filter(task__job_id=self.job, state__in=OPEN_EDGES)
        for task, on in edges.values_list("task_id", "depends_on_id"):
            needs.setdefault(task, []).append(on)
        steps = list(StepTask.objects.filter(task__job_id=self.job))
        for join in steps:
            if join.role == Role.JOIN:
                items = [s.task_id for s in steps if (s.role, s.place) == (Role.ITEM, join.place)]
                needs.setdefault(join.task_id, []).extend(items)
        return needs

    def reaches(
        self, task: UUID, needs: Mapping[UUID, Sequence[UUID]], moving: Collection[UUID]
    ) -> bool:
        """Whether it waits, in the end, for something that moves or that a human decides."""
        return task in moving or any(
            self.reaches(each, needs, moving) for each in needs.get(task, ())
        )

    def finish(self) -> JobStatus:
        """Let everybody do their part: work is completed, humans dismiss what is left to them."""
        for _ in range(MOST_TURNS):
            jobs.resume_job(self.job, self.floor.operator)
            self.look()
            status = self.floor.job_status(self.job)
            if status in JOB_FINAL:
                return status
            for grant in self.held:
                self.floor.complete("w1", grant, RESULTS[1])
            for task in self.inbox():
                self.taken.append((task, self.floor.take(task).token))
            for task, token in self.taken:
                self.floor.decide(task, token, APPROVED)
            if not (self.held or self.taken):
                operations.dismiss(self.tasks(Status.DEAD), self.floor.operator, "enough")
            self.held, self.taken = [], []
        raise AssertionError(f"the job is still {self.floor.job_status(self.job)}")


@pytest.fixture
def floor(record: None) -> PeopleFloor:
    made = PeopleFloor()
    made.people_do()
    # It gives no sign of life, and a thousand plays take longer than a silence may last.
    made.settings(stale_after_seconds=1e6)
    made.hire("w1", slots=50)
    return made


SETTINGS = settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.timeout(400)
@SETTINGS
@given(plan=plans(), acts=turns)
def test_every_job_settles_and_undoes_in_reverse(
    floor: PeopleFloor, plan: dict[str, Any], acts: list[Turn]
) -> None:
    settle(floor, plan, acts)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(SETTINGS, max_examples=1000)
@given(plan=plans(), acts=turns)
def test_a_thousand_jobs_settle_and_undo_in_reverse(
    floor: PeopleFloor, plan: dict[str, Any], acts: list[Turn]
) -> None:
    settle(floor, plan, acts)


def settle(floor: PeopleFloor, plan: dict[str, Any], acts: list[Turn]) -> None:
    """Play a plan to its end; it must come to one, and back in reverse."""
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
