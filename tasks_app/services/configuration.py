"""Changes of configuration: audited where they are made, in force from the next round."""

from collections.abc import Sequence

from tasks_app import events
from tasks_app.services.auditing import note
from tasks_app.services.people import Actor, Role, needs


@needs(Role.ADMIN)
def note_change(actor: Actor, action: str, subject: str, fields: Sequence[str]) -> None:
    """Record who changed which fields of what, in the transaction of the change itself."""
    note(actor, action, subject, fields=list(fields))
    events.wake_supervisor()
