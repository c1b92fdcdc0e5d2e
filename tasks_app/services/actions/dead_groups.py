"""What people say about dead letters that are alike: whose they are, and a note; audited."""

from typing import Final

from django.contrib.auth import get_user_model

from tasks_app.core.words import say
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.transactions import transactional
from tasks_app.store.failures import dead_groups
from tasks_app.store.reads.failures.dead_groups import read_histories

LONGEST_NOTE: Final = 2_000


class NobodyThere(ValueError):
    """A group is given to somebody who has no account here."""


@needs(Role.OPERATOR)
@transactional
def assign_group(fingerprint: str, name: str, actor: Actor) -> bool:
    """Give a group to a colleague, or with "" to nobody; False where it is so already.

    Raises NobodyThere.
    """
    if name and not get_user_model().objects.filter(username=name, is_active=True).exists():
        raise NobodyThere(say("assigned to: there is no active account %(name)s", name=repr(name)))
    before = read_histories([fingerprint])[fingerprint].assigned_to
    if before == name or not dead_groups.assign(fingerprint, name):
        return False
    subject = f"dead letters {fingerprint}"
    note(actor, "assign", subject, change=({"assigned_to": before}, {"assigned_to": name}))
    return True


@needs(Role.OPERATOR)
@transactional
def note_group(fingerprint: str, text: str, actor: Actor) -> bool:
    """Write a group's note anew; False where it says so already."""
    text = text.strip()[:LONGEST_NOTE]
    before = read_histories([fingerprint])[fingerprint].note
    if before == text or not dead_groups.write_note(fingerprint, text):
        return False
    note(actor, "note", f"dead letters {fingerprint}", change=({"note": before}, {"note": text}))
    return True
