"""What people do with their own accounts: passwords and log-ins."""

from collections.abc import Sequence
from typing import Final

from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.transactions import transactional
from tasks_app.store.people import sessions
from tasks_app.store.reads.people.sessions import sessions_of

CLEARED_AT_ONCE: Final = 500


@needs(Role.VIEWER)
@transactional
def note_password(actor: Actor, how: str) -> None:
    """Audit that somebody has a new password: ``how`` is "change" or "reset"."""
    note(actor, f"{how} password", actor.name)


@needs(Role.VIEWER)
@transactional
def log_out_elsewhere(user_id: int, here: str, actor: Actor) -> int:
    """End all log-ins of a user but the one with the key ``here``; return how many ended."""
    others = [each.key for each in sessions_of(user_id) if each.key != here]
    ended = sessions.end_sessions(others)
    if ended:
        note(actor, "log out elsewhere", actor.name, count=ended)
    return ended


@needs(Role.ADMIN)
@transactional
def unlock(attempts: Sequence[int], actor: Actor) -> int:
    """End the lock-outs of these records of wrong passwords; return how many there were."""
    ended = sessions.unlock(attempts)
    if ended:
        names = sorted({name or "" for name, _, _ in ended})
        told = [{"name": name, "network": net, "wrong": count} for name, net, count in ended[:100]]
        subject = ", ".join(names)[:200]
        note(actor, "end lock-out", subject, count=len(ended), ended=told)
    return len(ended)


@transactional
def clear_expired_log_ins() -> None:
    """Keep the table of log-ins as small as what is live: called when somebody logs in."""
    sessions.clear_expired(CLEARED_AT_ONCE)
