"""What a supervisor that only looks at the record is worth: a model in rounds, not in seconds.

A scheduler starts steps, an agent runs each in the round after, a supervisor scans at intervals
for steps whose record did not land within their lease. Two failures look alike from outside: a
stall (the work was done, its record was lost, once) and a persistent one (it never passes). The
figures are those of the scheduler-agent-supervisor seed, to the digit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

STEPS: Final = ("tariff", "discount", "invoice", "notification")
STALLED: Final[Mapping[int, str]] = {2: "discount", 5: "tariff", 9: "invoice"}
PERSISTENT: Final[Mapping[int, str]] = {7: "discount"}

DAILY_WORKFLOWS: Final = 4_000
PERSISTENT_SHARE: Final = 0.02
"""Share of a day's workflows with a step that never passes."""


@dataclass(frozen=True, slots=True)
class RoundModel:
    """One experiment: how many jobs, which step of which job fails how, and the supervisor's knobs.

    Job numbers start at 1. ``scan`` and ``lease`` are rounds; ``supervised`` False leaves the third
    role out; ``rounds`` ends a run in which something never finishes.
    """

    jobs: int = 12
    steps: Sequence[str] = STEPS
    stalled: Mapping[int, str] = field(default_factory=lambda: STALLED)
    persistent: Mapping[int, str] = field(default_factory=lambda: PERSISTENT)
    supervised: bool = True
    scan: int = 2
    lease: int = 2
    retry_limit: int = 3
    rounds: int = 80


@dataclass(frozen=True, slots=True)
class RecoveryResult:
    """What a run came to.

    ``wasted`` re-drives repeated work that had been done. ``half_finished`` jobs run for ever.
    ``recovery_rounds`` has, for each re-drive, the rounds since its record was due.
    """

    completed: int
    steps_run: int
    redriven: int
    wasted: int
    compensated_jobs: int
    compensated_steps: int
    half_finished: int
    last_round: int
    records_read: int
    recovery_rounds: Sequence[int]

    @property
    def mean_recovery(self) -> float:
        """Mean rounds from the record being due to the re-drive; 0 without one."""
        return sum(self.recovery_rounds) / len(self.recovery_rounds) if self.recovery_rounds else 0

    @property
    def wasted_share(self) -> float:
        """Share of the re-drives whose work had been done; 0 without one."""
        return self.wasted / self.redriven if self.redriven else 0

    @property
    def worst_recovery(self) -> int:
        """Most rounds that a re-drive came late."""
        return max(self.recovery_rounds, default=0)


@dataclass(frozen=True, slots=True)
class DailyCost:
    """A day with and without a supervisor, by the share of steps that stall."""

    stall_share: float
    stalled_steps: float
    redrives: float
    wasted_steps: float
    half_finished_unsupervised: float
    job_share: float


def run_rounds(model: RoundModel) -> RecoveryResult:
    """Run the model until every job is finished or compensated, or the rounds are over.

    >>> supervised, alone = run_rounds(RoundModel()), run_rounds(RoundModel(supervised=False))
    >>> (alone.completed, alone.half_finished), (supervised.completed, supervised.half_finished)
    ((8, 4), (11, 0))
    """
    record = _Record(model, [_Job(number) for number in range(1, model.jobs + 1)])
    for now in range(1, model.rounds + 1):
        record.agent(now)
        if model.supervised and now % model.scan == 0:
            record.supervisor(now)
        record.scheduler(now)
        if all(job.state in _ENDED for job in record.jobs):
            break
    return record.result()


def daily_cost(stall_share: float, model: RoundModel | None = None) -> DailyCost:
    """What the model's ratios come to at 4,000 workflows a day, 2 % of them persistently failing.

    >>> daily_cost(0.005)
    DailyCost(stall_share=0.005, stalled_steps=80.0, redrives=320.0, wasted_steps=80.0, \
half_finished_unsupervised=160.0, job_share=0.04)
    """
    model = model or RoundModel()
    stalled = DAILY_WORKFLOWS * len(model.steps) * stall_share
    persistent = DAILY_WORKFLOWS * PERSISTENT_SHARE
    return DailyCost(
        stall_share=stall_share,
        stalled_steps=stalled,
        redrives=stalled + persistent * model.retry_limit,
        wasted_steps=stalled,
        half_finished_unsupervised=stalled + persistent,
        job_share=(stalled + persistent) / DAILY_WORKFLOWS,
    )


class _State(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    COMPENSATED = "compensated"


_ENDED: Final = frozenset({_State.DONE, _State.COMPENSATED})


@dataclass(slots=True)
class _Job:
    number: int
    step: int = 0
    state: _State = _State.WAITING
    started: int = 0
    attempt: int = 0


@dataclass(slots=True)
class _Record:
    """The durable record, and what each of the three roles does to it in a round."""

    model: RoundModel
    jobs: list[_Job]
    steps_run: int = 0
    wasted: int = 0
    compensated_steps: int = 0
    last_round: int = 0
    records_read: int = 0
    recovery_rounds: list[int] = field(default_factory=list)

    def agent(self, now: int) -> None:
        """Run what was started a round ago, and record it unless that fails."""
        for job in self.jobs:
            if job.state is not _State.RUNNING or now != job.started + 1:
                continue
            never_passes = self._fails(job, self.model.persistent)
            record_lost = self._fails(job, self.model.stalled) and job.attempt == 0
            if never_passes or record_lost:
                continue
            self.steps_run += 1
            job.step, job.attempt, job.state = job.step + 1, 0, _State.WAITING

    def supervisor(self, now: int) -> None:
        """Read every record and re-drive the steps whose lease is over."""
        self.records_read += len(self.jobs)
        for job in self.jobs:
            if job.state is not _State.RUNNING or now - job.started < self.model.lease:
                continue
            self.recovery_rounds.append(now - (job.started + 1))
            self.wasted += self._fails(job, self.model.stalled)
            job.attempt, job.state = job.attempt + 1, _State.WAITING

    def scheduler(self, now: int) -> None:
        """Start each next step, or close the job: all steps done, or retries used up."""
        for job in self.jobs:
            if job.state is not _State.WAITING:
                continue
            if job.step >= len(self.model.steps):
                job.state, self.last_round = _State.DONE, now
            elif job.attempt >= self.model.retry_limit:
                job.state, self.last_round = _State.COMPENSATED, now
                self.compensated_steps += job.step
            else:
                job.state, job.started = _State.RUNNING, now

    def result(self) -> RecoveryResult:
        """What the record shows at the end."""
        return RecoveryResult(
            completed=self._count(_State.DONE),
            steps_run=self.steps_run,
            redriven=len(self.recovery_rounds),
            wasted=self.wasted,
            compensated_jobs=self._count(_State.COMPENSATED),
            compensated_steps=self.compensated_steps,
            half_finished=self._count(_State.RUNNING),
            last_round=self.last_round,
            records_read=self.records_read,
            recovery_rounds=self.recovery_rounds,
        )

    def _fails(self, job: _Job, failures: Mapping[int, str]) -> bool:
        return failures.get(job.number) == self.model.steps[job.step]

    def _count(self, state: _State) -> int:
        return sum(job.state is state for job in self.jobs)
