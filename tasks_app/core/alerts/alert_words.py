"""What a message says of an alert: a title for the subject, and a sentence or two."""

from tasks_app.core.alerts.detection import (
    DeadWaiting,
    HeldKind,
    Hold,
    OffDuty,
    Overdue,
    PinnedWorker,
    SilentWorker,
    SnapshotHeld,
    Unserved,
)
from tasks_app.core.alerts.notification import ErrorSeen, Told
from tasks_app.core.figures import short
from tasks_app.core.words import say, say_count


def title_and_text(alert: Told) -> tuple[str, str]:
    """The title and the text of an alert that begins."""
    match alert:
        case ErrorSeen():
            return _error(alert)
        case HeldKind():
            return _held(alert)
        case OffDuty() | Overdue() | SnapshotHeld() | DeadWaiting():
            return _whole_floor(alert)
        case Unserved(kinds):
            return (
                say("No worker can do %(kind)s", kind=", ".join(kinds)),
                say(
                    "Tasks are ready and wait for one: start a worker with a handler of that name."
                ),
            )
        case PinnedWorker(pinned):
            return (
                say("%(worker)s is pinned", worker=pinned.name),
                say(
                    "It holds %(queued)s of queued work while others are idle.",
                    queued=short(pinned.queued_seconds),
                ),
            )
        case SilentWorker(worker=worker, silent_seconds=seconds, active=active):
            return (
                say("%(worker)s is silent", worker=worker),
                say_count(
                    "No sign of life for %(silent)s; it holds %(count)s task.",
                    "No sign of life for %(silent)s; it holds %(count)s tasks.",
                    active,
                    silent=short(seconds),
                ),
            )


def _error(alert: ErrorSeen) -> tuple[str, str]:
    title = (
        say("%(error)s came back", error=alert.error)
        if alert.back
        else say("A new error: %(error)s", error=alert.error)
    )
    if alert.more:
        return title, say(
            "At least %(count)s dead letters of it wait for a human, and nobody has taken them on.",
            count=f"{alert.tasks:,}",
        )
    return title, say_count(
        "%(count)s dead letter of it waits for a human, and nobody has taken it on.",
        "%(count)s dead letters of it wait for a human, and nobody has taken them on.",
        alert.tasks,
    )


def _held(alert: HeldKind) -> tuple[str, str]:
    if alert.hold is Hold.QUARANTINE:
        return (
            say("%(kind)s is in quarantine", kind=alert.kind),
            say(
                "Its tasks took workers down, or an operator put it there; "
                "ready ones wait until somebody frees it."
            ),
        )
    if alert.hold is Hold.BREAKER:
        return (
            say("The breaker of %(kind)s is open", kind=alert.kind),
            say("It failed again and again; ready tasks wait until a probe goes through."),
        )
    return (
        say("%(kind)s is paused", kind=alert.kind),
        say("Ready tasks wait until somebody resumes it."),
    )


def _whole_floor(alert: OffDuty | Overdue | SnapshotHeld | DeadWaiting) -> tuple[str, str]:
    match alert:
        case OffDuty(silent_seconds=seconds):
            return say("No supervisor is on duty"), (
                say("No round was ever recorded.")
                if seconds is None
                else say(
                    "The last round was %(age)s ago. Nothing is handed out or reclaimed until one "
                    "is.",
                    age=short(seconds),
                )
            )
        case Overdue(seconds, allowed):
            return (
                say("The oldest task has waited for %(age)s", age=short(seconds)),
                say("It may wait for %(allowed)s.", allowed=short(allowed)),
            )
        case SnapshotHeld(seconds=seconds, pid=pid):
            return (
                say("A transaction has been open for %(age)s", age=short(seconds)),
                say(
                    "PostgreSQL cannot clean up behind the queue until process %(pid)s ends it.",
                    pid=pid,
                ),
            )
        case DeadWaiting(tasks):
            return (
                say_count("%(count)s dead letter", "%(count)s dead letters", tasks),
                say("They wait for a human to requeue or dismiss them."),
            )
