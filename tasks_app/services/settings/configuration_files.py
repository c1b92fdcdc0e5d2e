"""The configuration as a document of plain values: exported, compared, applied as a whole."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.faults import Fault
from tasks_app.core.settings.settings_changes import Change, differing
from tasks_app.core.words import say
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.settings.configuration import SettingsInvalid, note_change
from tasks_app.services.settings.configuration_versions import hold_against
from tasks_app.services.settings.settings_sections import SECTIONS, Known, Section, known_names
from tasks_app.services.transactions import transactional

LONGEST_NAME: Final = 100
BY_NAME: Final = {section.name: section for section in SECTIONS}


def export_settings(*, locked: bool = False) -> dict[str, Any]:
    """Every section with every setting, but those that operators change from day to day."""
    document: dict[str, Any] = {}
    for section in SECTIONS:
        entries = {
            name: {key: value for key, value in values.items() if key not in section.left_out}
            for name, values in section.every(locked=locked).items()
        }
        document[section.name] = entries.get("", {}) if section.single else entries
    return document


def compare(document: Any, *, locked: bool = False) -> list[Change]:
    """What applying a document would change. Raises SettingsInvalid with every fault of it.

    What a document does not name stays as it is: kinds, and settings of a kind.
    """
    faults = [*_shape_faults(document)]
    if faults:
        raise SettingsInvalid(faults)
    known = _with_those_of(document, known_names())
    changes = []
    for section in SECTIONS:
        if document.get(section.name) is None:
            continue
        now = section.every(locked=locked)
        for name, given in _entries(section, document[section.name]):
            change, found = _entry(section, name, given, now.get(name), known)
            faults += found
            if change.before is None or differing(change.before, change.after)[1]:
                changes.append(change)
    if faults:
        raise SettingsInvalid(faults)
    return changes


def _entries(section: Section, part: Any) -> Iterator[tuple[str, Any]]:
    return iter([("", part)]) if section.single else iter(part.items())


def _entry(
    section: Section, name: str, given: Any, now: Mapping[str, Any] | None, known: Known
) -> tuple[Change, list[Fault]]:
    given = {} if given is None else given
    after = {**(now or section.blank()), **given}
    change = Change(section.name, name, now, after)
    faults = [*section.faults(given, known)] or [*section.faults_together(name, after)]
    place = change.place
    return change, [Fault(f"{place}.{f.place}" if f.place else place, f.message) for f in faults]


def _shape_faults(document: Any) -> Iterator[Fault]:
    """Faults of the frame: sections and entries are mappings, and each name is one."""
    if not isinstance(document, Mapping):
        yield Fault("the document", f"give a mapping of {', '.join(BY_NAME)}")
        return
    for name, part in document.items():
        section = BY_NAME.get(name)
        if section is None:
            near = difflib.get_close_matches(str(name), BY_NAME, n=1)
            said = (
                say("there is no such section; did you mean %(near)s?", near=near[0])
                if near
                else say("there is no such section; there are %(all)s", all=", ".join(BY_NAME))
            )
            yield Fault(str(name), said)
        elif part is not None and not isinstance(part, Mapping):
            yield Fault(name, say("give a mapping"))
        elif part is not None and not section.single:
            yield from _name_faults(name, part)


def _name_faults(section: str, part: Mapping[Any, Any]) -> Iterator[Fault]:
    for entry, given in part.items():
        fit = isinstance(entry, str) and 0 < len(entry) <= LONGEST_NAME and entry.isprintable()
        if not fit or entry != entry.strip():
            yield Fault(
                f"{section}.{entry}",
                say("give a name of 1 to %(longest_name)s characters", longest_name=LONGEST_NAME),
            )
        elif given is not None and not isinstance(given, Mapping):
            yield Fault(
                f"{section}.{entry}",
                say("give a mapping of settings"),
            )


def _with_those_of(document: Mapping[str, Any], known: Known) -> Known:
    """The names on record and those that the document itself makes."""
    made = {
        section.model: frozenset(document.get(section.name) or ())
        for section in SECTIONS
        if not section.single
    }
    return {model: names | made.get(model, frozenset()) for model, names in known.items()}


@needs(Role.ADMIN)
@transactional
def apply_settings(
    document: Any, actor: Actor, reason: str = "", *, exported: str | None = None
) -> Sequence[Change]:
    """Bring the configuration to what a document says, in one transaction; return what changed.

    ``exported`` is the version on which the document was made: no other may be in force. In force
    from the supervisor's next round. Raises SettingsInvalid, and then nothing changed.
    """
    if exported is not None:
        hold_against(exported, export_settings(locked=True))
    changes = compare(document, locked=True)
    for change in changes:
        section = BY_NAME[change.section]
        section.write(change.name, change.after, new=change.before is None)
    for change in changes:
        section = BY_NAME[change.section]
        subject, values = section.subject(change.name), (change.before, change.after)
        note_change(actor, section.noun, subject, values, reason=reason)
    return changes
