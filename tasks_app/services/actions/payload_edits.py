"""Edit a dead task's payload and requeue it: checked like a submission, the difference audited."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from tasks_app import events
from tasks_app.core.actions.json_changes import ABSENT, Change, list_changes
from tasks_app.core.faults import Fault
from tasks_app.core.intake.payloads import dump_json, parse_json
from tasks_app.core.masking.hidden_words import (
    Source,
    Words,
    part_of,
    secrets_of,
    shown_part,
)
from tasks_app.core.masking.origins import ANY, PAYLOAD, Origin, as_json
from tasks_app.core.masking.redaction import Hidden
from tasks_app.core.words import say
from tasks_app.services.intake.payload_schemas import PayloadSchema
from tasks_app.services.masking.payload_masking import hidden_from
from tasks_app.services.masking.word_masking import words_about
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.transactions import transactional
from tasks_app.store.failures import dead_letters, payload_edits
from tasks_app.store.reads.actions.refusals import why_not_moved
from tasks_app.store.reads.settings.configuration import kind_doors


@dataclass(frozen=True, slots=True)
class Edited:
    """What an edit came to: the changes that were made, or the faults for which none was."""

    changes: Sequence[Change] = ()
    faults: Sequence[Fault] = ()
    refused: str = ""


@needs(Role.OPERATOR)
@transactional
def edit_and_requeue(
    task_id: UUID,
    requeues: int,
    text: str,
    actor: Actor,
    reason: str = "",
    *,
    sees_payloads: bool = True,
) -> Edited:
    """Give a DEAD task another payload and a fresh attempt budget, in one transaction.

    ``requeues`` is the incarnation that was looked at, ``text`` the payload as JSON. Values of keys
    that the kind redacts are masked in the audit too, and who may not see them may not edit.
    """
    found = payload_edits.lock_dead(task_id, requeues)
    if found is None:
        return Edited(refused=say("It is no longer as it was shown: requeued or closed meanwhile."))
    kind, before = found
    hidden = hidden_from(sees_payloads=False)
    words = words_about([task_id], hidden)
    source = words.sources.get(task_id, Source(kind))
    if not sees_payloads and words.hides_in(task_id, before):
        return Edited(
            refused=say("Payloads of %(kind)s hold values that you may not see.", kind=kind)
        )
    parsed = parse_json(text)
    faults = parsed.faults or _schema_faults(kind, parsed.value)
    if faults:
        return Edited(faults=faults)
    changes = _shown(list_changes(before, parsed.value), before, parsed.value, source, hidden)
    typed = as_json(_typed(list_changes(before, parsed.value), task_id, words))
    payload_edits.set_payload(task_id, dump_json(parsed.value).text, typed)
    known = secrets_of(before, PAYLOAD, source, hidden)
    _forget(task_id, known - secrets_of(parsed.value, PAYLOAD, source, hidden))
    if not dead_letters.requeue([task_id]):
        # A payload is never changed alone: the transaction takes it back.
        raise RequeueRefused(why_not_moved([task_id])[task_id])
    _note(task_id, changes, actor, reason)
    events.wake_supervisor()
    return Edited(changes=changes)


class RequeueRefused(Exception):
    """The task cannot be requeued, so its payload stays what it was."""


def _forget(task_id: UUID, secrets: frozenset[str]) -> None:
    """Mask for good what was said with hidden values that nobody could look for any more."""
    words = Words({task_id: secrets})
    told = payload_edits.read_words(task_id) if secrets else []
    shown = [replace(each, said=words.json(task_id, each.said)) for each in told]
    payload_edits.write_words(
        [new for old, new in zip(told, shown, strict=True) if old.said != new.said]
    )


def _schema_faults(kind: str, payload: object) -> list[Fault]:
    door = next((door for door in kind_doors().values() if door.name == kind), None)
    found = PayloadSchema(door.payload_schema).first_fault(payload) if door else None
    if found is None:
        return []
    place, value, message = found
    return [Fault(place, f"{message}, got {value}")]


def _shown(
    changes: Sequence[Change], before: Any, after: Any, source: Source, hidden: Hidden
) -> list[Change]:
    """The changes without what is hidden by its key or by where it was filled in from."""
    had, has = (shown_part(value, PAYLOAD, source, hidden) for value in (before, after))
    return [
        replace(
            change,
            before=change.before if change.before is ABSENT else part_of(had, change.path),
            after=change.after if change.after is ABSENT else part_of(has, change.path),
        )
        for change in changes
    ]


def _typed(changes: Sequence[Change], task_id: UUID, words: Words) -> list[Origin]:
    """The origins of places where somebody typed a value that is hidden elsewhere."""
    return [
        Origin((PAYLOAD, *map(str, change.path)), None, (ANY,))
        for change in changes
        if change.after is not ABSENT and words.json(task_id, change.after) != change.after
    ]


def _note(task_id: UUID, changes: Sequence[Change], actor: Actor, reason: str) -> None:
    told = [change.as_json() for change in changes]
    sides = [
        {each["place"]: each[side] for each in told if side in each} for side in ("before", "after")
    ]
    note(
        actor,
        "edit and requeue",
        str(task_id),
        reason=reason.strip(),
        change=(sides[0], sides[1]),
        tasks=[str(task_id)],
    )
