"""A task's life as a page tells it: what happened, the latest first, and when it waited and ran."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from tasks_app.core.drawing.page_room import Room
from tasks_app.core.failures.tracebacks import Frame, app_frames
from tasks_app.core.states import FINAL, Status
from tasks_app.store.reads.actions.task_actions import Act
from tasks_app.store.reads.attempts.task_logs import LoggedLine
from tasks_app.store.reads.search.task_detail import AttemptDetail, Late, LeaseDetail, TaskDetail


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened; ``frames`` are the application's own of an attempt's traceback.

    ``cut``: there was no room for its traceback or all of its log.
    """

    at: datetime
    what: str
    attempt: AttemptDetail | None = None
    act: Act | None = None
    late: Late | None = None
    frames: Sequence[Frame] = field(default_factory=tuple)
    token: int = 0
    lines: Sequence[LoggedLine] = field(default_factory=tuple)
    cut: bool = False


def timeline_of(
    task: TaskDetail,
    lease: LeaseDetail | None,
    attempts: Iterable[AttemptDetail],
    acts: Iterable[Act],
    late: Iterable[Late],
    logs: Mapping[int, Sequence[LoggedLine]],
    room: Room,
) -> list[Moment]:
    """Everything on record about a task, the latest first; ``logs`` are by token.

    Of tracebacks and logs, the latest that there is ``room`` for.
    """
    found = [Moment(task.created_at, "submitted")]
    running = () if lease is None else _within(logs.get(lease.token, ()), room)
    found += [_ended(attempt, logs.get(attempt.token, ()), room) for attempt in attempts]
    found += [Moment(act.at, "act", act=act) for act in acts]
    found += [Moment(each.received_at, "late", late=each) for each in late]
    if lease is not None:
        found.append(Moment(lease.assigned_at, "assigned"))
        if lease.started_at is not None:
            found.append(Moment(lease.started_at, "started", token=lease.token, lines=running))
    if task.finished_at is not None and (task.status in FINAL or task.status == Status.DEAD):
        found.append(Moment(task.finished_at, "ended"))
    # Of one instant, what was noted later happened later.
    return sorted(found, key=lambda moment: moment.at)[::-1]


def _ended(attempt: AttemptDetail, lines: Sequence[LoggedLine], room: Room) -> Moment:
    fits = room.trace(len(attempt.traceback))
    shown = _within(lines, room)
    return Moment(
        attempt.ended_at,
        "attempt",
        attempt=attempt if fits else replace(attempt, traceback=""),
        frames=app_frames(attempt.traceback) if fits else (),
        token=attempt.token,
        lines=shown,
        cut=not fits or len(shown) < len(lines),
    )


def _within(lines: Sequence[LoggedLine], room: Room) -> Sequence[LoggedLine]:
    """The latest lines that there is room for."""
    return lines[len(lines) - room.log(len(lines)) :]


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of the task's life in percent of it; ``kind`` is wait, running or an outcome."""

    start: str
    width: str
    kind: str


def strip_of(
    task: TaskDetail, lease: LeaseDetail | None, attempts: Sequence[AttemptDetail]
) -> list[Bar]:
    """When it was in a worker's hands, between its submission and its end or now."""
    until = task.finished_at or datetime.now(UTC)
    whole = (until - task.created_at).total_seconds()
    if whole <= 0 or not (attempts or lease):
        return []
    stretches = [
        stretch
        for each in reversed(attempts)
        for stretch in (
            (each.assigned_at, each.started_at or each.ended_at, "wait"),
            (each.started_at, each.ended_at, each.outcome),
        )
    ]
    if lease is not None:
        stretches.append((lease.assigned_at, lease.started_at or until, "wait"))
        stretches.append((lease.started_at, until, "running"))
    return [
        _bar(task.created_at, whole, start, end, kind) for start, end, kind in stretches if start
    ]


def _bar(origin: datetime, whole: float, start: datetime, end: datetime, kind: str) -> Bar:
    left = min(100.0, max(0.0, (start - origin).total_seconds() / whole * 100))
    # A moment must be seen too.
    width = min(100 - left, max(0.4, (end - start).total_seconds() / whole * 100))
    return Bar(f"{left:.2f}", f"{max(0.0, width):.2f}", kind)
