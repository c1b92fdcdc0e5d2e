"""Versions of the configuration: is it the one that was exported, and what changed since."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from tasks_app.core.faults import Fault
from tasks_app.core.settings.settings_changes import Change
from tasks_app.core.words import say
from tasks_app.services.settings.configuration import SettingsInvalid
from tasks_app.services.settings.settings_sections import SECTIONS, Section
from tasks_app.store.reads.settings.settings_history import SettingsAct, list_latest_acts

DIGITS: Final = 16
BY_NOUN: Final = {section.noun: section for section in SECTIONS}

Document = Mapping[str, Any]


def version_of(document: Document) -> str:
    """What tells one state of the configuration from another; a document as it is exported.

    >>> version_of({"kinds": {"a": {}}}) == version_of({"kinds": {"a": {}}})
    True
    """
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def hold_against(version: str, now: Document) -> None:
    """Refuse a configuration that is not of this version any more. Raises SettingsInvalid.

    Each fault is a setting that changed since, with who changed it and when.
    """
    if version_of(now) == version:
        return
    acts = acts_since(version, now)
    if acts is None:
        unknown = say(
            "the configuration is not the one that this file was exported from, and the audit does "
            "not tell how they differ; export again and compare"
        )
        raise SettingsInvalid([Fault("", unknown)])
    raise SettingsInvalid([fault for act in acts for fault in _faults(act)])


def acts_since(version: str, now: Document) -> Sequence[SettingsAct] | None:
    """The changes since a version, the oldest first; None where they do not lead back to it.

    They are undone one by one, the newest first, until the document is the one of that version.
    """
    document: dict[str, Any] = deepcopy(dict(now))
    acts = list_latest_acts(list(BY_NOUN))
    for place, act in enumerate(acts):
        _undo(document, act, BY_NOUN[act.noun])
        if version_of(document) == version:
            return acts[place::-1]
    return None


def _undo(document: dict[str, Any], act: SettingsAct, section: Section) -> None:
    part = document[section.name]
    entries = {act.subject: part} if section.single else part
    if act.before is None:
        entries.pop(act.subject, None)
        return
    kept = {
        name: value
        for name, value in act.before.items()
        if name in section.names and name not in section.left_out
    }
    entries.setdefault(act.subject, {}).update(kept)


def _faults(act: SettingsAct) -> list[Fault]:
    section = BY_NOUN[act.noun]
    name = "" if section.single else act.subject
    who = say("%(actor)s, %(at)s UTC", actor=act.actor, at=f"{act.at:%Y-%m-%d %H:%M:%S}")
    if act.after is None:
        return [Fault(f"{section.name}.{name}", say("deleted meanwhile (%(who)s)", who=who))]
    lines = Change(section.name, name, act.before, act.after).lines()
    parted = (line.partition(": ") for line in lines)
    return [
        Fault(place, say("changed meanwhile: %(change)s (%(who)s)", change=change, who=who))
        for place, _, change in parted
    ]
