"""Payloads as their kind's JSON Schema wants them."""

import re
from functools import cached_property
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from tasks_app.core.new_tasks import shown
from tasks_app.core.sanitise import clean_text

BROKEN: Final = "the kind's payload schema itself is broken, an admin must mend it"
_PLAIN: Final = re.compile(r"[^\W\d]\w{0,60}")


class PayloadSchema:
    """What every payload of one kind is held against; compiled once, at its first use."""

    def __init__(self, schema: dict[str, Any] | bool | None) -> None:
        self._schema = schema

    @cached_property
    def _validator(self) -> Validator | str | None:
        """The compiled schema, None for anything goes, or what is wrong with the schema."""
        if self._schema is None or self._schema is True:
            return None
        if self._schema is False:
            return "the kind's schema allows no payload at all"
        kind_of = validator_for(self._schema, default=Draft202012Validator)
        try:
            kind_of.check_schema(self._schema)
        except SchemaError as error:
            return f"{BROKEN}: {error.message[:200]}"
        # An empty registry fetches nothing: jsonschema's own would follow the URL of a reference.
        return kind_of(self._schema, registry=Registry())

    def first_fault(self, payload: Any) -> tuple[str, str, str] | None:
        """The place, value and message of the fault that tells most, or None."""
        validator = self._validator
        if validator is None:
            return None
        if isinstance(validator, str):
            return "payload", shown(payload), validator
        try:
            error = best_match(validator.iter_errors(payload))
        except Unresolvable as unresolvable:
            return "payload", shown(payload), f"{BROKEN}: it refers to {unresolvable.ref}"
        except RecursionError:
            return "payload", shown(payload), f"{BROKEN}: it refers to itself without end"
        except (re.error, OverflowError) as broken:
            return "payload", shown(payload), f"{BROKEN}: {broken}"
        return None if error is None else (_place_of(error), shown(error.instance), _told(error))


def _place_of(error: ValidationError) -> str:
    """The path of what is wrong, as ``payload.rows[3].text``."""
    place = "payload"
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
    wanted = error.validator or "nothing here, it says"
    return f"the kind's schema wants {wanted} {shown(error.validator_value)}"
