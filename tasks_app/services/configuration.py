"""Changes of configuration: audited where they are made, in force from the next round."""

from collections.abc import Sequence

from tasks_app import events
from tasks_app.services.people import Actor
from tasks_app.store import audit


def note_change(actor: Actor, action: str, subject: str, fields: Sequence[str]) -> None:
    """Record who changed which fields of what, in the transaction of the change itself."""
    audit.record(
        actor=actor.name,
        address=actor.address,
        action=action,
        subject=subject,
        count=1,
        reason="",
        detail={"fields": list(fields)},
    )
    events.wake_supervisor()
