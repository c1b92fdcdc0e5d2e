"""Payloads as their kind's JSON Schema wants them."""

import json
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Final, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from jsonschema_rs import Draft202012Validator as Draft202012Quick
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from tasks_app.core.faults import Fault
from tasks_app.core.intake.new_tasks import shown
from tasks_app.core.sanitise import clean_text
from tasks_app.core.words import say, side_by_side

BROKEN: Final = say("the kind's payload schema itself is broken, an admin must mend it")
DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: Final = re.compile(r"[^\W\d]\w{0,60}")


SAME_IN_BOTH: Final = frozenset(
    {
        *("type", "enum", "const", "properties", "required", "additionalProperties"),
        *("items", "minItems", "maxItems", "minProperties", "maxProperties"),
        *("minLength", "maxLength", "minimum", "maximum", "allOf", "anyOf", "oneOf", "not"),
        *("title", "description", "default", "examples", "$schema", "$comment"),
    }
)
"""Keywords of which both validators say the same. The others differ at their edges: regular
expressions have two dialects, and references may be followed to the network."""

LARGEST_SAME: Final = 2**53
"""Numbers in a schema beyond it are compared as doubles by one of the two."""


@lru_cache(maxsize=256)
def _quick(schema: str) -> Draft202012Quick | None:
    """A compiled validator that takes 0.2 us where jsonschema takes 12; None where it may differ.

    It only says that a payload has no fault: what a fault is called is jsonschema's to say.
    """
    parsed = json.loads(schema)
    if not isinstance(parsed, dict) or not _same_in_both(parsed):
        return None
    try:
        return Draft202012Quick(parsed, validate_formats=False)
    except ValueError:
        return None  # jsonschema tells what is wrong with it


def _same_in_both(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    if not schema.keys() <= SAME_IN_BOTH or not _plain(schema):
        return False
    within = [
        *schema.get("properties", {}).values(),
        *(each for name in ("allOf", "anyOf", "oneOf") for each in schema.get(name, ())),
        *(schema[name] for name in ("items", "additionalProperties", "not") if name in schema),
    ]
    return all(_same_in_both(each) for each in within)


def _plain(schema: dict[str, Any]) -> bool:
    """Whether its parts have the shapes that they are read by here, and its numbers are small."""
    return (
        schema.get("$schema", DRAFT) == DRAFT
        and isinstance(schema.get("properties", {}), dict)
        and all(isinstance(schema.get(name, []), list) for name in ("allOf", "anyOf", "oneOf"))
        and all(abs(value) < LARGEST_SAME for value in schema.values() if _is_number(value))
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _multiple_of(
    validator: Validator, divisor: Any, value: Any, _schema: Any
) -> Iterator[ValidationError]:
    """In decimal digits, as both are written: in doubles 19.99 is no multiple of 0.01."""
    if validator.is_type(value, "number") and Fraction(repr(value)) % Fraction(repr(divisor)):
        yield ValidationError(f"{value!r} is not a multiple of {divisor}")


@lru_cache(maxsize=16)
def _exact(kind_of: type[Validator]) -> type[Validator]:
    made = extend(kind_of, {"multipleOf": _multiple_of})  # type: ignore[no-untyped-call]
    return cast("type[Validator]", made)


class PayloadSchema:
    """What every payload of one kind is held against; compiled once, at its first use."""

    def __init__(self, schema: dict[str, Any] | bool | None) -> None:
        self._schema = schema

    @cached_property
    def _quick(self) -> Draft202012Quick | None:
        return _quick(json.dumps(self._schema))

    @cached_property
    def _validator(self) -> Validator | str | None:
        """The compiled schema, None for anything goes, or what is wrong with the schema."""
        if self._schema is None or self._schema is True:
            return None
        if self._schema is False:
            return say("the kind's schema allows no payload at all")
        kind_of = _exact(validator_for(self._schema, default=Draft202012Validator))
        try:
            kind_of.check_schema(self._schema)
        except SchemaError as error:
            return side_by_side(BROKEN, error.message[:200], between=": ")
        # An empty registry fetches nothing: jsonschema's own would follow the URL of a reference.
        return kind_of(self._schema, registry=Registry())

    def _passes(self, payload: Any) -> bool:
        """Whether there is certainly no fault; a type that JSON has not is looked at closer."""
        try:
            return self._quick is not None and self._quick.is_valid(payload)
        except ValueError:
            return False

    def first_fault(self, payload: Any, root: str = "payload") -> tuple[str, str, str] | None:
        """The place, value and message of the fault that tells most, or None.

        The place begins with ``root``; place and message hold nothing of the values.
        """
        validator = None if self._passes(payload) else self._validator
        if validator is None:
            return None
        if isinstance(validator, str):
            return root, shown(payload), validator
        try:
            error = best_match(validator.iter_errors(payload))
        except (Unresolvable, RecursionError, re.error, OverflowError) as broken:
            return root, shown(payload), side_by_side(BROKEN, _why_broken(broken), between=": ")
        if error is None:
            return None
        return _place_of(error, root), shown(error.instance), _told(error)

    def errors(self, value: Any) -> list[ValidationError] | str:
        """Every error of a value, or what is wrong with the schema itself."""
        validator = self._validator
        if validator is None or isinstance(validator, str):
            return validator or []
        try:
            return list(validator.iter_errors(value))
        except (Unresolvable, RecursionError, re.error, OverflowError) as broken:
            return side_by_side(BROKEN, str(broken), between=": ")


def _why_broken(fault: Exception) -> str:
    """What is wrong with a schema that looked right until a payload was held against it."""
    if isinstance(fault, Unresolvable):
        return say("it refers to %(reference)s", reference=fault.ref)
    if isinstance(fault, RecursionError):
        return say("it refers to itself without end")
    return str(fault)


def _place_of(error: ValidationError, place: str) -> str:
    """The path of what is wrong, as ``payload.rows[3].text``."""
    for step in error.absolute_path:
        if isinstance(step, int):
            place += f"[{step}]"
        else:
            place += f".{step}" if _PLAIN.fullmatch(step) else f"[{step[:60]!r}]"
    return place


def _told(error: ValidationError) -> str:
    """What the schema wants there; the value is told apart, since it may be long."""
    if error.validator in {"required", "additionalProperties", "dependentRequired"}:
        return clean_text(error.message[:300])
    value = shown(error.validator_value)
    if not error.validator:
        return say("the kind's schema wants nothing here, it says %(value)s", value=value)
    return say("the kind's schema wants %(rule)s %(value)s", rule=error.validator, value=value)


def schema_faults(schema: Any) -> list[Fault]:
    """What is wrong with a schema itself, each fault with its place in it.

    References are looked up within the schema only: nothing is ever fetched.
    """
    if not isinstance(schema, dict | bool):
        return [
            Fault(
                "$",
                say("a schema is an object, true or false, got %(schema)s", schema=shown(schema)),
            )
        ]
    kind_of = validator_for(schema, default=Draft202012Validator)
    try:
        kind_of.check_schema(cast("dict[str, Any]", schema))
    except SchemaError as error:
        return [Fault(error.json_path, clean_text(error.message[:300]))]
    if isinstance(schema, bool):
        return []
    resource = Resource.from_contents(schema, default_specification=DRAFT202012)
    find = Registry().with_resource("", resource).resolver().lookup
    return [fault for place, ref in _references(schema, "$") for fault in _lost(find, place, ref)]


def _references(schema: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(schema, list):
        for index, each in enumerate(schema):
            yield from _references(each, f"{place}[{index}]")
    elif isinstance(schema, dict):
        for name, each in schema.items():
            if name == "$ref" and isinstance(each, str):
                yield f"{place}.$ref", each
            elif name not in {"const", "enum", "default", "examples"}:
                yield from _references(each, f"{place}.{name}")


def _lost(find: Callable[[str], object], place: str, reference: str) -> Iterator[Fault]:
    try:
        find(reference)
    except Unresolvable:
        yield Fault(
            place,
            say(
                "%(reference)s is not in this schema, and nothing is fetched",
                reference=shown(reference),
            ),
        )
