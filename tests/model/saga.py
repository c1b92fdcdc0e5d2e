"""A small reference model of a job that is a chain of steps, in plain Python."""

from dataclasses import dataclass, field

from tasks_app.core.jobs.job_states import JobPolicy, JobStatus
from tasks_app.core.states import FINAL, Status

OPEN = {Status.PENDING, Status.RUNNING}
CLOSED = {Status.CANCELLED, Status.DISMISSED}
ENDED = {JobStatus.COMPLETED, JobStatus.COMPENSATED, JobStatus.CANCELLED}


@dataclass
class Piece:
    """A step, or what undoes one; ``asked`` once its worker is to let it go."""

    status: Status = Status.PENDING
    asked: bool = False

    def end(self, status: Status) -> None:
        """A worker or the sweep says how it went on; a cancel that was asked for wins."""
        given_up = self.asked and status is not Status.COMPLETED
        self.status = Status.CANCELLED if given_up else status
        self.asked = self.asked and self.status is Status.RUNNING

    def let_go(self) -> None:
        """Nobody wants it any more."""
        if self.status is Status.PENDING:
            self.status = Status.CANCELLED
        elif self.status is Status.RUNNING:
            self.asked = True


@dataclass
class Saga:
    """A chain: each step needs the one before; ``undoable`` says which can be undone."""

    undoable: list[bool]
    policy: JobPolicy
    status: JobStatus = JobStatus.RUNNING
    paused: bool = False
    cancel_asked: bool = False
    done: list[int] = field(default_factory=list)
    undoing: dict[int, Piece] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.steps = [Piece() for _ in self.undoable]

    @property
    def ended(self) -> bool:
        """Whether nothing of it may move any more."""
        return self.status in ENDED

    def complete(self, place: int) -> None:
        """A step's work is done; the order counts."""
        self.steps[place].end(Status.COMPLETED)
        self.done.append(place)

    def settle(self) -> None:
        """What the supervisor makes of it, until nothing moves without a worker or a human."""
        while not self.ended and self._one_change():
            pass
        self._hand_out()

    def _one_change(self) -> bool:
        before = (self.status, [p.status for p in self.steps], len(self.undoing))
        self._carry_over()
        if self.status is JobStatus.COMPENSATING:
            self._go_back()
        elif self.cancel_asked:
            self._stop(JobStatus.CANCELLED)
        else:
            self._go_on()
        return before != (self.status, [p.status for p in self.steps], len(self.undoing))

    def _carry_over(self) -> None:
        for before, after in zip(self.steps, self.steps[1:], strict=False):
            if before.status in CLOSED and after.status is Status.PENDING:
                after.status = Status.DEAD

    def _go_on(self) -> None:
        failed = [p for p in self.steps if p.status in CLOSED | {Status.DEAD}]
        if failed and self.policy is JobPolicy.COMPENSATE:
            self.status = JobStatus.COMPENSATING
        elif any(p.status is Status.DEAD for p in failed):
            # In a chain everything after it waits for it. What is before it may still run, where
            # a human cancelled a step ahead of its turn.
            first = next(n for n, p in enumerate(self.steps) if p.status is Status.DEAD)
            can_move = any(p.status in OPEN for p in self.steps[:first])
            self.status = JobStatus.RUNNING if can_move else JobStatus.DEAD
        elif any(p.status in OPEN for p in self.steps):
            self.status = JobStatus.RUNNING
        else:
            self.status = JobStatus.CANCELLED if failed else JobStatus.COMPLETED

    def _stop(self, then: JobStatus) -> None:
        for piece in self.steps:
            piece.let_go()
        self._close_dead()
        if not any(p.status in OPEN for p in self.steps):
            self.status = then

    def _close_dead(self) -> None:
        for piece in self.steps:
            if piece.status is Status.DEAD:
                piece.status = Status.DISMISSED

    def _go_back(self) -> None:
        for piece in self.steps:
            piece.let_go()
        self._close_dead()
        unfinished = [p for p in (*self.steps, *self.undoing.values()) if p.status not in FINAL]
        if unfinished:
            return
        due = [n for n in self.done if self.undoable[n] and n not in self.undoing]
        if due:
            self.undoing[due[-1]] = Piece()
        else:
            self.status = JobStatus.COMPENSATED

    def _hand_out(self) -> None:
        """There is always a worker with a slot free."""
        if self.paused or self.ended:
            return
        if self.status is not JobStatus.COMPENSATING and not self.cancel_asked:
            for place, piece in enumerate(self.steps):
                ready = place == 0 or self.steps[place - 1].status is Status.COMPLETED
                if piece.status is Status.PENDING and ready:
                    piece.status = Status.RUNNING
        for piece in self.undoing.values():
            if piece.status is Status.PENDING:
                piece.status = Status.RUNNING
