"""The parts of the configuration: what each holds, how a value of it is checked and written."""

import difflib
import reprlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.contrib.auth.models import Group, Permission
from django.core.exceptions import ValidationError
from django.db.models import (
    BooleanField,
    Field,
    FloatField,
    ForeignKey,
    IntegerField,
    JSONField,
    Model,
)
from django.db.models.expressions import DatabaseDefault

from tasks_app.core.faults import Fault
from tasks_app.core.intake.new_tasks import between
from tasks_app.core.intake.payloads import check_payload
from tasks_app.core.words import say
from tasks_app.models import (
    AlertChannel,
    AlertRule,
    AlertSettings,
    Kind,
    Limit,
    RetentionSettings,
    SupervisorSettings,
)
from tasks_app.services.settings.settings_checks import CHECKS
from tasks_app.store.reads.people.rights import every_right
from tasks_app.store.reads.search.kinds import list_kind_names
from tasks_app.store.settings import settings_rows

if TYPE_CHECKING:
    AnyField = Field[Any, Any]

LARGEST_NUMBER: Final = sys.float_info.max
Known = Mapping[Any, frozenset[str]]
"""Names that a setting may refer to, by model: those on record, and those of the same file."""


@dataclass(frozen=True, slots=True)
class Section:
    """One model whose rows are configuration.

    ``noun`` is what one row is called in the audit; ``single`` has one row, of the key 1;
    ``left_out`` are settings that a file may name and an export does not: they follow the day.
    """

    name: str
    noun: str
    model: type[Model]
    single: bool = False
    left_out: frozenset[str] = frozenset()

    def key(self, name: str) -> Any:
        """The primary key of an entry."""
        return 1 if self.single else name

    def subject(self, name: str) -> str:
        """What the audit calls an entry."""
        return self.noun if self.single else name

    @property
    def names(self) -> Sequence[str]:
        """What the settings are called."""
        return [field.name for field in self.fields]

    @property
    def fields(self) -> "Sequence[AnyField]":
        """What may be set, in the model's order."""
        return [f for f in self.model._meta.concrete_fields if f.editable and not f.primary_key]

    def values(self, row: Model) -> dict[str, Any]:
        """A row's settings as plain values; a limit is its name."""
        return {field.name: field.value_from_object(row) for field in self.fields}

    def find(self, name: str) -> dict[str, Any] | None:
        """The settings as they stand, or None."""
        row = settings_rows.find(self.model, self.key(name))
        return None if row is None else self.values(row)

    def every(self, *, locked: bool = False) -> dict[str, dict[str, Any]]:
        """All entries by name; ``locked`` holds them until the transaction ends."""
        rows = settings_rows.every(self.model, locked=locked)
        return {"" if self.single else str(row.pk): self.values(row) for row in rows}

    def blank(self) -> dict[str, Any]:
        """What a new entry has where nothing else is said."""
        blank = self.values(self.model())
        # What the database would fill in: a plain value in every setting.
        return {
            field.name: field.db_default
            if isinstance(blank[field.name], DatabaseDefault)
            else value
            for field, value in zip(self.fields, blank.values(), strict=True)
        }

    def faults(self, given: Mapping[str, Any], known: Known) -> Iterator[Fault]:
        """What is wrong with the settings that were given, each with its name."""
        fields = {field.name: field for field in self.fields}
        for name, value in given.items():
            if name not in fields:
                near = difflib.get_close_matches(name, fields, n=1)
                said = say("there is no such setting")
                if near:
                    said = say("there is no such setting; did you mean %(near)s?", near=near[0])
                yield Fault(name, said)
            elif (fault := fault_of(fields[name], value, known)) is not None:
                yield Fault(name, fault)

    def faults_together(self, name: str, values: Mapping[str, Any]) -> Iterator[Fault]:
        """What is wrong between settings that are right one by one."""
        found = list(CHECKS[self.model](values)) if self.model in CHECKS else []
        yield from found
        if found:
            return
        by_column = {field.attname: values[field.name] for field in self.fields}
        try:
            self.model(pk=self.key(name), **by_column).validate_constraints()
        except ValidationError as error:
            for message in error.messages:
                yield Fault("", message.rstrip("."))

    def write(self, name: str, values: Mapping[str, Any], *, new: bool) -> None:
        """Write an entry whose settings were found right."""
        columns = {f.attname: values[f.name] for f in self.fields if f.name in values}
        if new:
            settings_rows.insert(self.model, name, columns)
        else:
            settings_rows.update(self.model, self.key(name), columns)


def fault_of(field: "AnyField", value: Any, known: Known) -> str | None:
    """Why a value cannot be a field's, or None; nothing is read leniently, as a form would."""
    wanted = _type_fault(field, value)
    if wanted is not None:
        return wanted
    if isinstance(field, ForeignKey):
        names = known.get(field.related_model, frozenset())
        if value is None or value in names:
            return None
        return say(
            "there is no %(model)s %(value)s",
            model=str(field.related_model._meta.verbose_name),
            value=reprlib.repr(value),
        )
    if field.choices and value != "" and value not in dict(field.flatchoices):
        choices = ", ".join(map(str, dict(field.flatchoices)))
        return say("%(value)s: give one of %(words)s", value=reprlib.repr(value), words=choices)
    try:
        field.clean(value, None)
    except ValidationError as error:
        said, told = " ".join(error.messages).rstrip("."), reprlib.repr(value)
        return said if told in said else f"{told}: {said}"
    return None


def _type_fault(field: "AnyField", value: Any) -> str | None:
    if value is None:
        return None if field.null else say("empty; give a value")
    if isinstance(field, JSONField):
        if faults := check_payload(value):
            return str(faults[0])
        lists = isinstance(field.default() if callable(field.default) else None, list)
        strings = isinstance(value, list) and all(isinstance(each, str) for each in value)
        return (
            None
            if strings or not lists
            else say("%(value)s: give a list of texts", value=reprlib.repr(value))
        )
    if isinstance(field, BooleanField):
        right, word = isinstance(value, bool), say("true or false")
    elif isinstance(field, IntegerField):
        right, word = isinstance(value, int) and not isinstance(value, bool), say("a whole number")
    elif isinstance(field, FloatField):
        right, word = between(value, -LARGEST_NUMBER, LARGEST_NUMBER), say("a number")
    else:
        right, word = isinstance(value, str), say("a text")
    return None if right else say("%(value)s: give %(word)s", value=reprlib.repr(value), word=word)


@dataclass(frozen=True, slots=True)
class GroupSection(Section):
    """Groups and their permissions, each written as ``app.codename``."""

    @property
    def names(self) -> Sequence[str]:
        """One setting."""
        return ["permissions"]

    def values(self, row: Model) -> dict[str, Any]:
        """The permissions by name."""
        return self.find(str(row)) or self.blank()

    def find(self, name: str) -> dict[str, Any] | None:
        """The permissions of a group, or None."""
        return self.every().get(name)

    def every(self, *, locked: bool = False) -> dict[str, dict[str, Any]]:
        """All groups by name."""
        return {
            name: {"permissions": permissions}
            for name, permissions in settings_rows.every_group(locked=locked).items()
        }

    def blank(self) -> dict[str, Any]:
        """No permission."""
        return {"permissions": []}

    def faults(self, given: Mapping[str, Any], known: Known) -> Iterator[Fault]:
        """Permissions that do not exist."""
        for name in given:
            if name != "permissions":
                yield Fault(name, say("there is no such setting; did you mean permissions?"))
        wanted = given.get("permissions", [])
        if not isinstance(wanted, list) or not all(isinstance(each, str) for each in wanted):
            yield Fault("permissions", say("give a list of texts, such as tasks_app.see_payloads"))
            return
        for place, each in enumerate(wanted):
            if each not in known[Permission]:
                yield Fault(
                    f"permissions[{place}]",
                    say("there is no permission %(each)s", each=repr(each)),
                )

    def faults_together(self, name: str, values: Mapping[str, Any]) -> Iterator[Fault]:
        """None: each permission stands for itself."""
        return iter(())

    def write(self, name: str, values: Mapping[str, Any], *, new: bool) -> None:
        """Give a group exactly these permissions."""
        settings_rows.set_rights(name, values["permissions"])


LIMITS: Final = Section("limits", "limit", Limit)
KINDS: Final = Section("kinds", "kind", Kind, left_out=frozenset({"paused"}))
SUPERVISOR: Final = Section("supervisor", "supervisor settings", SupervisorSettings, single=True)

ALERTS: Final = Section("alerts", "alert thresholds", AlertSettings, single=True)
ALERT_RULES: Final = Section("alert_rules", "alert rule", AlertRule)
CHANNELS: Final = Section("alert_channels", "alert channel", AlertChannel)
RETENTION: Final = Section("retention", "retention", RetentionSettings, single=True)
GROUPS: Final = GroupSection("groups", "group", Group)

SECTIONS: Final[Sequence[Section]] = (
    LIMITS,
    KINDS,
    SUPERVISOR,
    ALERTS,
    ALERT_RULES,
    CHANNELS,
    RETENTION,
    GROUPS,
)
"""In the order in which they are written: a limit before the kinds that refer to it."""


def section_of(model: type[Model]) -> Section | None:
    """The section that holds a model's rows."""
    return next((section for section in SECTIONS if section.model is model), None)


def known_names() -> dict[Any, frozenset[str]]:
    """The names on record that a setting may refer to."""
    return {
        Limit: frozenset(LIMITS.every()),
        Kind: frozenset(list_kind_names()),
        Permission: every_right(),
    }
