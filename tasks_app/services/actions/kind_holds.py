"""Pausing kinds and letting them go on, quarantine and its end; each audited in its transaction."""

from tasks_app import events
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.transactions import transactional
from tasks_app.store.dispatch import breakers


@needs(Role.OPERATOR)
@transactional
def pause_kind(kind: str, actor: Actor, reason: str = "") -> bool:
    """Let nothing more of a kind begin; what has begun goes on. False when nothing changed."""
    return _set_paused(kind, actor, reason, paused=True)


@needs(Role.OPERATOR)
@transactional
def resume_kind(kind: str, actor: Actor, reason: str = "") -> bool:
    """Go on with a paused kind. False when nothing changed."""
    return _set_paused(kind, actor, reason, paused=False)


@needs(Role.OPERATOR)
@transactional
def quarantine_kind(kind: str, actor: Actor, reason: str = "") -> bool:
    """Let nothing more of a kind begin until it is freed. False where it is there already.

    What has begun goes on. A pause says "for now"; a quarantine says that its tasks do harm.
    """
    if not breakers.quarantine_kind(kind):
        return False
    note(actor, "quarantine kind", kind, reason=reason.strip())
    return True


@needs(Role.OPERATOR)
@transactional
def free_kind(kind: str, actor: Actor, reason: str = "") -> bool:
    """End a quarantine; poison tasks from before no longer count. False when there was none."""
    if not breakers.free_kind(kind):
        return False
    note(actor, "free kind", kind, reason=reason.strip())
    events.wake_supervisor()
    return True


def _set_paused(kind: str, actor: Actor, reason: str, *, paused: bool) -> bool:
    if not breakers.pause_kind(kind, paused):
        return False
    change = ({"paused": not paused}, {"paused": paused})
    action = "pause kind" if paused else "resume kind"
    note(actor, action, kind, reason=reason.strip(), change=change)
    events.wake_supervisor()
    return True
