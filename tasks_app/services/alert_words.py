"""What a message says of an alert: a title for the subject, and a sentence or two."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tasks_app.core.alerting import ErrorSeen, Told
from tasks_app.core.alerts import (
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
from tasks_app.core.figures import short


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
                _("No worker can do %(kind)s") % {"kind": ", ".join(kinds)},
                _("Tasks are ready and wait for one: start a worker with a handler of that name."),
            )
        case PinnedWorker(pinned):
            return (
                _("%(worker)s is pinned") % {"worker": pinned.name},
                _("It holds %(queued)s of queued work while others are idle.")
                % {"queued": short(pinned.queued_seconds)},
            )
        case SilentWorker(worker=worker, silent_seconds=seconds, active=active):
            return (
                _("%(worker)s is silent") % {"worker": worker},
                ngettext(
                    "No sign of life for %(silent)s; it holds %(active)d task.",
                    "No sign of life for %(silent)s; it holds %(active)d tasks.",
                    active,
                )
                % {"silent": short(seconds), "active": active},
            )


def _error(alert: ErrorSeen) -> tuple[str, str]:
    title = (
        _("%(error)s came back") % {"error": alert.error}
        if alert.back
        else _("A new error: %(error)s") % {"error": alert.error}
    )
    return title, ngettext(
        "%(tasks)d dead letter of it waits for a human, and nobody has taken it on.",
        "%(tasks)d dead letters of it wait for a human, and nobody has taken them on.",
        alert.tasks,
    ) % {"tasks": alert.tasks}


def _held(alert: HeldKind) -> tuple[str, str]:
    kind = {"kind": alert.kind}
    if alert.hold is Hold.QUARANTINE:
        return (
            _("%(kind)s is in quarantine") % kind,
            _("Its tasks took workers down; ready ones wait until somebody frees it."),
        )
    if alert.hold is Hold.BREAKER:
        return (
            _("The breaker of %(kind)s is open") % kind,
            _("It failed again and again; ready tasks wait until a probe goes through."),
        )
    return (
        _("%(kind)s is paused") % kind,
        _("Ready tasks wait until somebody resumes it."),
    )


def _whole_floor(alert: OffDuty | Overdue | SnapshotHeld | DeadWaiting) -> tuple[str, str]:
    match alert:
        case OffDuty(silent_seconds=seconds):
            return _("No supervisor is on duty"), (
                _("No round was ever recorded.")
                if seconds is None
                else _(
                    "The last round was %(age)s ago. Nothing is handed out or reclaimed until one "
                    "is."
                )
                % {"age": short(seconds)}
            )
        case Overdue(seconds, allowed):
            return (
                _("The oldest task has waited for %(age)s") % {"age": short(seconds)},
                _("It may wait for %(allowed)s.") % {"allowed": short(allowed)},
            )
        case SnapshotHeld(seconds=seconds, pid=pid):
            return (
                _("A transaction has been open for %(age)s") % {"age": short(seconds)},
                _("PostgreSQL cannot clean up behind the queue until process %(pid)d ends it.")
                % {"pid": pid},
            )
        case DeadWaiting(tasks):
            return (
                ngettext("%(tasks)d dead letter", "%(tasks)d dead letters", tasks)
                % {"tasks": tasks},
                _("They wait for a human to requeue or dismiss them."),
            )
