"""What comes next for a job: go on, end, undo what was done, or wait for a human.

A job always settles: it ends, or nothing of it can move before a human decides about a task that
is DEAD and therefore on their list. Compensations come one at a time, in the reverse order of
completion, once each, for completed steps only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from tasks_app.core.jobs.job_states import JobPolicy, JobStatus, Role
from tasks_app.core.jobs.plans import Plan, Step
from tasks_app.core.states import FINAL, OnDead, Status

GOOD = frozenset({Status.COMPLETED, Status.SKIPPED})


@dataclass(frozen=True, slots=True)
class JobTask:
    """One task of a job. ``place`` is its step's in the plan; ``item`` its number in a for_each.

    ``ended`` (seconds) orders completions; ``undoes`` is the task that a compensation is for.
    """

    id: UUID
    place: int
    role: Role
    status: Status
    item: int | None = None
    undoes: UUID | None = None
    ended: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether it may still move by itself."""
        return self.status not in FINAL and self.status is not Status.DEAD


@dataclass(frozen=True, slots=True)
class JobFacts:
    """A job as it stands. ``cancel_asked``: a human ended it, what runs is being let go.

    Of the items of a join, one that is open stands for all while the job goes forward. On the way
    back ``tasks`` are those not COMPLETED that decide what follows, and of the COMPLETED ones that
    are not undone yet some of the last.
    """

    plan: Plan
    status: JobStatus
    tasks: Sequence[JobTask]
    cancel_asked: bool = False


@dataclass(frozen=True, slots=True)
class JobDecision:
    """What follows.

    ``status`` is the job's from now on. ``stop`` ends everything that is open and closes what is
    DEAD, in this order, before anything else. ``undo`` is the completed task to compensate next.
    """

    status: JobStatus
    stop: bool = False
    undo: JobTask | None = None


@dataclass(frozen=True, slots=True)
class ItemCounts:
    """How the items of a join stand: how many there are, are COMPLETED, may still move.

    Not ``whole`` while more of them are to be made.
    """

    total: int
    completed: int
    open: int
    whole: bool = True

    def needed(self, step: Step) -> int:
        """How many must complete."""
        return self.total if step.quorum is None else step.quorum


def judge_join(step: Step, items: ItemCounts) -> Status | None:
    """Decide a join: COMPLETED by enough items, DEAD where enough never can be, or None yet.

    An item that a human can still requeue does not count as possible: the join dies at once, and
    comes back when the item does.

    >>> judge_join(Step("ask", "k", quorum=2), ItemCounts(total=3, completed=1, open=1))
    >>> judge_join(Step("ask", "k", quorum=2), ItemCounts(total=3, completed=1, open=0))
    <Status.DEAD: 'DEAD'>
    """
    if not items.whole:
        return None
    if items.completed >= items.needed(step):
        return Status.COMPLETED
    if items.completed + items.open < items.needed(step):
        return Status.DEAD
    return None


def decide_job(job: JobFacts) -> JobDecision:
    """Decide what follows for a job that has not ended."""
    if job.status is JobStatus.COMPENSATING:
        return _backward(job)
    if job.cancel_asked:
        if any(task.is_open for task in job.tasks):
            return JobDecision(job.status, stop=True)
        return JobDecision(JobStatus.CANCELLED, stop=True)
    return _forward(job)


def failed_steps(job: JobFacts) -> Sequence[JobTask]:
    """The steps that the job needs and that are not going to complete by themselves."""
    tolerated = job.plan.tolerated
    return [
        task
        for task in steps_of(job.tasks)
        if not (task.is_open or task.status in GOOD)
        and job.plan.steps[task.place].name not in tolerated
    ]


def steps_of(tasks: Iterable[JobTask]) -> Iterable[JobTask]:
    """The task of each step: its join where it has items."""
    return (task for task in tasks if task.role in (Role.STEP, Role.JOIN))


def _forward(job: JobFacts) -> JobDecision:
    failed = failed_steps(job)
    if failed and job.plan.policy is JobPolicy.COMPENSATE:
        return JobDecision(JobStatus.COMPENSATING, stop=True)
    if any(task.status is Status.DEAD for task in failed):
        return JobDecision(JobStatus.RUNNING if _can_move(job) else JobStatus.DEAD)
    if any(task.is_open for task in job.tasks):
        return JobDecision(JobStatus.RUNNING)
    # What failed was dismissed or cancelled: a human's hand has ended the job.
    return JobDecision(JobStatus.CANCELLED if failed else JobStatus.COMPLETED, stop=True)


def _can_move(job: JobFacts) -> bool:
    """Whether something open waits for no DEAD step, directly or by others that do."""
    tasks = {task.place: task for task in steps_of(job.tasks)}
    blocked: set[str] = set()
    for step in job.plan.in_order:
        if any(_blocks(need.on, need.on_dead, job.plan, tasks, blocked) for need in step.needs):
            blocked.add(step.name)
    names = [step.name for step in job.plan.steps]
    return any(
        task.is_open and (task.role is Role.ITEM or names[task.place] not in blocked)
        for task in job.tasks
    )


def _blocks(
    name: str, on_dead: OnDead, plan: Plan, tasks: Mapping[int, JobTask], blocked: set[str]
) -> bool:
    task = tasks[plan.places[name]]
    if task.status is Status.DEAD:
        return on_dead is OnDead.WAIT
    return task.is_open and name in blocked


def _backward(job: JobFacts) -> JobDecision:
    if any(t.status not in FINAL for t in job.tasks if t.role is not Role.COMPENSATION):
        return JobDecision(JobStatus.COMPENSATING, stop=True)
    undoing = [task for task in job.tasks if task.role is Role.COMPENSATION]
    if any(task.status not in FINAL for task in undoing):
        # It runs, or it is DEAD and a human has it on their list: nothing overtakes it.
        return JobDecision(JobStatus.COMPENSATING)
    following = next_compensation(job.plan, job.tasks)
    if following is None:
        return JobDecision(JobStatus.COMPENSATED)
    return JobDecision(JobStatus.COMPENSATING, undo=following)


def next_compensation(plan: Plan, tasks: Sequence[JobTask]) -> JobTask | None:
    """The completed task that is undone next: of those not undone yet, the last to complete."""
    undone = {task.undoes for task in tasks if task.role is Role.COMPENSATION}
    candidates = [
        task
        for task in tasks
        if task.role in (Role.STEP, Role.ITEM)
        and task.status is Status.COMPLETED
        and plan.steps[task.place].compensation is not None
        and task.id not in undone
    ]
    return max(candidates, key=_completion_order, default=None)


def _completion_order(task: JobTask) -> tuple[float, int, int]:
    return (task.ended or 0.0, task.place, task.item or 0)
