"""Acts on many tasks: what there is to do, how a bulk goes on, when a canary stops."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from tasks_app.core.faults import Fault
from tasks_app.core.intake.new_tasks import HIGHEST_PRIORITY, LATEST, between
from tasks_app.core.states import FINAL, Status
from tasks_app.core.words import say

HOLD_SECONDS: Final = 10.0
"""A bulk that was confirmed touches nothing for so long: time to undo it."""

BATCH: Final = 500
"""Tasks moved in one transaction: some hundredths of a second, between two rounds."""

EDGES_AT_ONCE: Final = 20_000
"""Dependencies that one batch of a requeue looks at, for one that will never complete: some
hundredths of a second. A task has up to 1,000."""

WATCH_SECONDS: Final = 0.5
"""Between two looks at what became of a wave."""

LONGEST_WATCH_PAUSE: Final = 5.0
"""The same where nothing is left to stop, after a while."""

WATCHED_AT_ONCE: Final = 1_000
"""Tasks of a wave that one look takes in: their errors are all compared, between two rounds."""

LAST_WATCH_SECONDS: Final = 3600.0
"""How long a canary's last wave is watched at most, once all of it is out."""

WAVES: Final = (1, 10)
"""Tasks of a canary's first waves; the last has all others."""


class BulkAction(StrEnum):
    """What a bulk does to each of its tasks."""

    REQUEUE = "requeue"
    DISMISS = "dismiss"
    CANCEL = "cancel"
    PRIORITY = "priority"
    DEADLINE = "deadline"


class BulkState(StrEnum):
    """Where a bulk stands; STOPPED and CAME_BACK are a canary's own findings.

    CAME_BACK is done, but with the error back in the last wave: nothing was left to stop.
    """

    HELD = "held"
    RUNNING = "running"
    DONE = "done"
    UNDONE = "undone"
    ABORTED = "aborted"
    STOPPED = "stopped"
    CAME_BACK = "came_back"


class ItemState(StrEnum):
    """What became of one task of a bulk."""

    WAITING = "waiting"
    MOVED = "moved"
    REFUSED = "refused"


OPEN: Final = frozenset({BulkState.HELD, BulkState.RUNNING})

TOUCHES: Final[Mapping[BulkAction, frozenset[Status]]] = {
    BulkAction.REQUEUE: frozenset({Status.DEAD}),
    BulkAction.DISMISS: frozenset({Status.DEAD}),
    BulkAction.CANCEL: frozenset({Status.PENDING, Status.FAILED, Status.ASSIGNED, Status.RUNNING}),
    # What a worker has been given already is not moved in a queue any more.
    BulkAction.PRIORITY: frozenset({Status.PENDING, Status.FAILED, Status.DEAD}),
    BulkAction.DEADLINE: frozenset(Status) - FINAL,
}
"""The statuses in which an act can touch a task."""

NEEDS_REASON: Final = frozenset({BulkAction.DISMISS, BulkAction.CANCEL})
"""What cannot be taken back asks why."""


@dataclass(frozen=True, slots=True)
class BulkOrder:
    """What a person wants done, and why; ``key`` is the form's, so that it counts once (if given).

    ``priority`` and ``deadline_at`` belong to the acts of that name; no deadline takes it away.
    """

    action: BulkAction
    reason: str = ""
    canary: bool = False
    priority: int | None = None
    deadline_at: datetime | None = None
    key: str = ""

    @property
    def params(self) -> dict[str, Any]:
        """What the act needs beside the tasks, as JSON."""
        if self.action is BulkAction.PRIORITY:
            return {"priority": self.priority}
        if self.action is BulkAction.DEADLINE:
            return {"deadline_at": self.deadline_at and self.deadline_at.isoformat()}
        return {}


def order_faults(order: BulkOrder, now: datetime) -> Sequence[Fault]:
    """Everything that is wrong with an order itself.

    >>> [str(fault) for fault in order_faults(BulkOrder(BulkAction.DISMISS), datetime.min)]
    ['reason: empty; say in a few words why']
    """
    return list(_faults_of(order, now))


def _faults_of(order: BulkOrder, now: datetime) -> Iterator[Fault]:
    if order.action in NEEDS_REASON and not order.reason.strip():
        yield Fault("reason", say("empty; say in a few words why"))
    most = HIGHEST_PRIORITY
    if order.action is BulkAction.PRIORITY and not between(order.priority, -most, most):
        said = say(
            "must be a whole number from %(low)s to %(high)s", low=f"-{most:,}", high=f"{most:,}"
        )
        yield Fault("priority", said)
    if order.action is BulkAction.DEADLINE and order.deadline_at:
        if order.deadline_at <= now:
            said = say("has passed already: every task would be dead at once")
            yield Fault("deadline", said)
        elif order.deadline_at > LATEST:
            yield Fault("deadline", say("must not lie after the year %(year)s", year=LATEST.year))
    if order.canary and order.action is not BulkAction.REQUEUE:
        said = say("is a way to requeue, not to %(action)s", action=order.action)
        yield Fault("canary", said)


def wave_of(place: int) -> int:
    """The wave of a canary, from 0, in which the item of a place stands.

    >>> [wave_of(place) for place in (0, 1, 10, 11, 5000)]
    [0, 1, 1, 2, 2]
    """
    end = 0
    for number, size in enumerate(WAVES):
        end += size
        if place < end:
            return number
    return len(WAVES)


def wave_end(wave: int, total: int) -> int:
    """The place behind a wave's last item.

    >>> [wave_end(wave, 5000) for wave in (0, 1, 2)], wave_end(1, 4)
    ([1, 11, 5000], 4)
    """
    return min(sum(WAVES[: wave + 1]), total) if wave < len(WAVES) else total


def next_batch(place: int, total: int, *, canary: bool) -> int:
    """The place behind the batch that begins at ``place``; a canary's never crosses a wave."""
    end = wave_end(wave_of(place), total) if canary else total
    return min(place + BATCH, end)


def cut_by_edges(end: int, edges: Iterable[tuple[int, int]]) -> int:
    """The place behind the batch that looks at a bounded number of edges, one task at least.

    ``edges``: place and number of edges of each task before ``end``.

    >>> cut_by_edges(9, [(6, 1), (5, 999), (7, 20_000), (8, 1)]), cut_by_edges(6, [(5, 30_000)])
    (7, 6)
    """
    total = 0
    for place, count in sorted(edges):
        total += count
        if total > EDGES_AT_ONCE and total > count:
            return place
    return end


def watch_pause(sent_for: float | None) -> float:
    """Seconds until the next look at a wave: behind the last, the longer it is out the longer.

    >>> watch_pause(None), watch_pause(3.0), watch_pause(60.0), watch_pause(3000.0)
    (0.5, 0.5, 3.0, 5.0)
    """
    return min(max(WATCH_SECONDS, (sent_for or 0.0) / 20), LONGEST_WATCH_PAUSE)


def to_watch(place: int, watched: int, total: int) -> tuple[int, int] | None:
    """The places that a canary looks at before it sends on from ``place``, or ends; None for none.

    Every wave is watched once it is out, the last one too: from ``watched``, up to which all has
    ended, to its end. Within the last wave nobody is waited for until all of it is out.

    >>> to_watch(1, 0, 5000), to_watch(11, 1, 5000), to_watch(511, 11, 5000), to_watch(3, 1, 3)
    ((0, 1), (1, 11), None, (1, 3))
    """
    is_out = place > 0 and (place == total or wave_of(place) != wave_of(place - 1))
    if not is_out or watched >= place:
        return None
    return watched, min(watched + WATCHED_AT_ONCE, place)


@dataclass(frozen=True, slots=True)
class Sent:
    """One task that a canary has requeued, as it stands now.

    ``came_back``: it fails, or has died, with the fingerprint that it was requeued with.
    """

    name: str
    status: Status
    came_back: bool


@dataclass(frozen=True, slots=True)
class Wave:
    """One wave of a canary, from 1: of ``size`` tasks, ``dealt`` are requeued or refused.

    ``completed`` are so now, and ``came_back`` stand with the same error; None where there are too
    many to look at each. ``failed``: the canary ended with it, whatever became of its tasks since.
    """

    number: int
    size: int
    dealt: int
    completed: int | None = None
    came_back: int | None = None
    failed: bool = False


class Verdict(StrEnum):
    """What a canary does next."""

    GO_ON = "go_on"
    WAIT = "wait"
    STOP = "stop"


def judge_wave(sent: Sequence[Sent], *, last: bool) -> tuple[Verdict, str]:
    """Whether to go on after what was sent so far, and if not, why.

    The first return of the error stops; so does a wave of which nothing completed, unless it is the
    last, behind which nothing is left to stop.

    >>> judge_wave([Sent("t1", Status.DEAD, came_back=True)], last=False)
    (<Verdict.STOP: 'stop'>, 'The same error came back: t1 is DEAD.')
    """
    for task in sent:
        if task.came_back:
            return Verdict.STOP, f"The same error came back: {task.name} is {task.status}."
    if any(task.status not in FINAL and task.status is not Status.DEAD for task in sent):
        return Verdict.WAIT, ""
    if sent and not last and not any(task.status is Status.COMPLETED for task in sent):
        return Verdict.STOP, "Nothing of the wave completed, though the error was another."
    return Verdict.GO_ON, ""
