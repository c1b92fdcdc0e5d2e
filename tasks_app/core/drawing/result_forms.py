"""Forms for people, made from the JSON Schema of a result, and results read back from them.

An object's properties become fields: text, numbers, yes or no, choices. What cannot be drawn so is
written as JSON. A required boolean ``approved``, or an enum ``decision`` that has ``approve`` and
``reject``, becomes the buttons that send the form.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tasks_app.core.literals import NotReadable, decimal_number, plain, whole_number
from tasks_app.core.strict_json import JsonRefused, read_strict
from tasks_app.core.words import say

WHOLE: Final = ""
"""The name of the one field of a form whose schema is no object with properties."""

LONG_TEXT: Final = 200
"""Characters; a text that may be longer gets several lines."""

APPROVED: Final = "approved"
DECISION: Final = "decision"
APPROVE: Final = "approve"
REJECT: Final = "reject"


class FieldKind(StrEnum):
    """How one field is drawn and read."""

    LINE = "line"
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    CHOICES = "choices"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Choice:
    """One value that may be chosen; ``value`` is its JSON."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class FormField:
    """One field; ``initial`` are the texts that it begins with."""

    name: str
    kind: FieldKind
    label: str
    help: str = ""
    required: bool = False
    choices: Sequence[Choice] = ()
    initial: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ResultForm:
    """The fields, and the field whose choices are the buttons, if there is one."""

    fields: Sequence[FormField]
    verdict: FormField | None = None

    @property
    def every_field(self) -> Sequence[FormField]:
        """The verdict among the others."""
        return [*self.fields, *([self.verdict] if self.verdict else [])]


def make_form(schema: Any) -> ResultForm:
    """Draw a schema; None, or one that is no object with properties, is one field of JSON.

    What is required comes first, in the order of that list, then the rest by ``propertyOrder``,
    then by name.

    >>> form = make_form({"type": "object", "properties": {"approved": {"type": "boolean"},
    ...     "why": {"type": "string", "maxLength": 80}}, "required": ["approved"]})
    >>> [(field.name, field.kind.value) for field in form.fields], form.verdict.choices[0].label
    ([('why', 'line')], 'Approve')
    """
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not properties or schema.get("type") != "object":
        return ResultForm([FormField(WHOLE, FieldKind.JSON, say("Result, as JSON"), required=True)])
    listed = schema.get("required")
    required = listed if isinstance(listed, list) else []
    order = sorted(properties, key=lambda name: _place(name, properties[name], required))
    fields = [_field(name, properties[name], name in required) for name in order]
    verdict = next((each for each in map(_verdict, fields) if each), None)
    return ResultForm([f for f in fields if verdict is None or f.name != verdict.name], verdict)


def _place(name: str, schema: Any, required: Sequence[Any]) -> tuple[int, float, str]:
    """Where a field stands: a stored schema has lost the order of its properties, not of lists."""
    place = schema.get("propertyOrder") if isinstance(schema, dict) else None
    return (
        required.index(name) if name in required else len(required),
        place if isinstance(place, int | float) else math.inf,
        name,
    )


def _verdict(field: FormField) -> FormField | None:
    """The field as buttons, if people decide by it."""
    if not field.required:
        return None
    if field.name == APPROVED and field.kind is FieldKind.BOOLEAN:
        choices = [Choice("true", say("Approve")), Choice("false", say("Reject"))]
        return FormField(field.name, FieldKind.CHOICE, field.label, field.help, True, choices)
    offered = {choice.value for choice in field.choices}
    if field.name == DECISION and {json.dumps(APPROVE), json.dumps(REJECT)} <= offered:
        words = {json.dumps(APPROVE): say("Approve"), json.dumps(REJECT): say("Reject")}
        choices = [Choice(c.value, words.get(c.value, c.label.capitalize())) for c in field.choices]
        return FormField(field.name, FieldKind.CHOICE, field.label, field.help, True, choices)
    return None


def _field(name: str, schema: Any, required: bool) -> FormField:
    given = schema if isinstance(schema, dict) else {}
    kind, values = _kind_of(given)
    return FormField(
        name,
        kind,
        label=str(given.get("title") or _words(name)),
        help=str(given.get("description") or ""),
        required=required,
        choices=[Choice(json.dumps(value), _label(value)) for value in values],
        initial=_initial(kind, given["default"]) if "default" in given else (),
    )


def _kind_of(schema: Mapping[str, Any]) -> tuple[FieldKind, Sequence[Any]]:
    """How a property is drawn, and the values it offers."""
    if "$ref" in schema:
        return FieldKind.JSON, ()
    if _is_choice(schema.get("enum")):
        return FieldKind.CHOICE, schema["enum"]
    wanted = schema.get("type")
    if wanted == "array":
        items = schema.get("items")
        offered = items.get("enum") if isinstance(items, dict) else None
        return (FieldKind.CHOICES, offered or ()) if _is_choice(offered) else (FieldKind.JSON, ())
    if wanted == "string":
        return (FieldKind.TEXT if _is_long(schema) else FieldKind.LINE), ()
    simple = {
        "integer": FieldKind.INTEGER,
        "number": FieldKind.NUMBER,
        "boolean": FieldKind.BOOLEAN,
    }
    return simple.get(wanted, FieldKind.JSON) if isinstance(wanted, str) else FieldKind.JSON, ()


def _is_choice(values: Any) -> bool:
    scalar = (str, int, float, bool)
    return isinstance(values, list) and bool(values) and all(isinstance(v, scalar) for v in values)


def _is_long(schema: Mapping[str, Any]) -> bool:
    longest = schema.get("maxLength")
    long_enough = isinstance(longest, int | float) and longest > LONG_TEXT
    return long_enough or schema.get("format") == "text"


def _words(name: str) -> str:
    words = name.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:] if words else name


def _label(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _initial(kind: FieldKind, default: Any) -> Sequence[str]:
    if kind is FieldKind.CHOICES:
        return [json.dumps(value) for value in default] if isinstance(default, list) else ()
    if kind in (FieldKind.LINE, FieldKind.TEXT) and isinstance(default, str):
        return [default]
    if isinstance(default, float) and math.isfinite(default):
        return [plain(default)]
    return [json.dumps(default, ensure_ascii=False)]


class _Unreadable(ValueError):
    """A text that is no value of its field; the message says what would be."""


def read_form(
    form: ResultForm, texts: Mapping[str, Sequence[str]]
) -> tuple[Any, Mapping[str, str]]:
    """The result that was filled in, and for each field that could not be read why.

    Whether the values are good is for the schema to say; an empty field has none.

    >>> form = make_form({"type": "object", "properties": {"n": {"type": "integer"}}})
    >>> read_form(form, {"n": ["4"]}), read_form(form, {"n": ["four"]})[1]["n"]
    (({'n': 4}, {}), "Write a whole number, such as 3; 'four' is none.")
    """
    result: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for field in form.every_field:
        given = [text for text in texts.get(field.name, ()) if text.strip()]
        try:
            found, value = _read(field, given)
        except _Unreadable as unreadable:
            faults[field.name] = str(unreadable)
            continue
        if found:
            result[field.name] = value
        elif field.required:
            faults[field.name] = say("Fill this in.")
    if [field.name for field in form.fields] == [WHOLE]:
        return result.get(WHOLE), faults
    return result, faults


def _read(field: FormField, given: Sequence[str]) -> tuple[bool, Any]:
    """Whether the field has a value, and which."""
    if field.kind is FieldKind.BOOLEAN:
        return True, bool(given)
    if field.kind is FieldKind.CHOICES:
        return bool(given) or field.required, [_chosen(field, text) for text in given]
    return (True, _parsed(field, given[0])) if given else (False, None)


def _chosen(field: FormField, text: str) -> Any:
    if text not in {choice.value for choice in field.choices}:
        raise _Unreadable(say("%(value)s is not offered here.", value=repr(text[:40])))
    return json.loads(text)


def _parsed(field: FormField, text: str) -> Any:
    if field.kind is FieldKind.CHOICE:
        return _chosen(field, text)
    if field.kind is FieldKind.TEXT:
        return text.replace("\r\n", "\n")
    if field.kind is FieldKind.LINE:
        return text.strip()
    read, wanted = READERS[field.kind]
    try:
        return read(text.strip())
    except JsonRefused as refused:
        said = say("Write %(wanted)s. This is not read: %(why)s.", wanted=wanted, why=refused.told)
        raise _Unreadable(said) from None
    except NotReadable:
        raise _Unreadable(
            say(
                "Write %(wanted)s; %(value)s is none.", wanted=wanted, value=repr(text.strip()[:40])
            )
        ) from None


READERS: Final[Mapping[FieldKind, tuple[Callable[[str], Any], str]]] = {
    FieldKind.INTEGER: (whole_number, say("a whole number, such as 3")),
    FieldKind.NUMBER: (decimal_number, say("a number, such as 0.5")),
    FieldKind.JSON: (read_strict, say('JSON, such as {"name": [1, 2]}')),
}
