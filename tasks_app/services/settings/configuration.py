"""Changes of configuration: audited with what was there before, undone as changes of their own."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks_app import events
from tasks_app.core.faults import Fault
from tasks_app.core.settings.settings_changes import Change, differing
from tasks_app.core.words import say
from tasks_app.services.intake.search_indexes import sync_search_indexes_after_commit
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.settings.settings_sections import SECTIONS, Section, known_names
from tasks_app.services.transactions import transactional
from tasks_app.store.reads.settings.settings_history import SettingsAct, find_act

Values = Mapping[str, Any]


class SettingsInvalid(ValueError):
    """Nothing was changed; ``faults`` names every reason with its place."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        more = say("(and %(count)s more)", count=f"{len(faults) - 1:,}") if len(faults) > 1 else ""
        super().__init__(f"{self.faults[0]}{more}")


@needs(Role.ADMIN)
def note_change(
    actor: Actor,
    noun: str,
    name: str,
    change: tuple[Values | None, Values | None],
    *,
    reason: str = "",
    **detail: Any,
) -> bool:
    """Record who changed what, in the transaction of the change itself; only what differs.

    ``change`` is what was there before and what is after: None for "was not" and "is no more". A
    change of nothing is none: False.
    """
    before, after = change
    verb = "add" if before is None else "delete" if after is None else "change"
    if before is not None and after is not None:
        before, after = differing(before, after)
        if not after:
            return False
    note(actor, f"{verb} {noun}", name, reason=reason, change=(before, after), **detail)
    events.wake_supervisor()
    if noun == "kind":
        sync_search_indexes_after_commit()
    return True


def preview_revert(act: SettingsAct) -> Change:
    """What taking an act back would change now. Raises SettingsInvalid when it cannot be."""
    section = next((each for each in SECTIONS if each.noun == act.noun), None)
    if section is None:
        raise SettingsInvalid([Fault(act.noun, say("is not taken back here"))])
    if act.before is None:
        raise SettingsInvalid([Fault(act.subject, say("was new with this act; delete it instead"))])
    now = section.find(act.subject)
    wanted = {**(now or section.blank()), **_still_known(section, act.before)}
    _check(section, act.subject, wanted)
    return Change(section.name, "" if section.single else act.subject, now, wanted)


def _still_known(section: Section, values: Values) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in section.names}


def _check(section: Section, name: str, values: Values) -> None:
    faults = [*section.faults(values, known_names())] or [*section.faults_together(name, values)]
    if faults:
        raise SettingsInvalid([Fault(fault.place or name, fault.message) for fault in faults])


@needs(Role.ADMIN)
@transactional
def revert(act_id: int, actor: Actor, reason: str = "") -> bool:
    """Set what an act changed to what it was before, as a new change; False if it is so already.

    Raises LookupError for no such act, SettingsInvalid when its values are no longer right.
    """
    act = find_act(act_id)
    if act is None:
        raise LookupError(
            say("there is no change of configuration numbered %(act_id)s", act_id=act_id)
        )
    change = preview_revert(act)
    section = next(each for each in SECTIONS if each.noun == act.noun)
    made = note_change(
        actor,
        act.noun,
        act.subject,
        (change.before, change.after),
        reason=reason.strip(),
        reverts=act_id,
    )
    if made:
        section.write(act.subject, change.after, new=change.before is None)
    return made
