"""Results that people write, held against their kind's schema: each fault at its field."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from jsonschema.exceptions import ValidationError

from tasks_app.core.new_tasks import shown
from tasks_app.core.payloads import check_payload
from tasks_app.core.result_forms import WHOLE
from tasks_app.core.sanitise import clean_text
from tasks_app.services.payload_schemas import PayloadSchema

Faults = Mapping[str, Sequence[str]]
"""Messages by field; those of the whole result stand under ``WHOLE``."""

WORDS: Final[Mapping[str, Callable[[Any], str]]] = {
    "minLength": lambda least: f"Write at least {least} character{'' if least == 1 else 's'}.",
    "maxLength": lambda most: f"Write at most {most} characters.",
    "minimum": lambda least: f"Give {least} or more.",
    "maximum": lambda most: f"Give {most} or less.",
    "exclusiveMinimum": lambda least: f"Give more than {least}.",
    "exclusiveMaximum": lambda most: f"Give less than {most}.",
    "multipleOf": lambda step: f"Give a multiple of {step}.",
    "minItems": lambda least: f"Choose at least {least}.",
    "maxItems": lambda most: f"Choose at most {most}.",
    "uniqueItems": lambda _: "Give each value once.",
    "pattern": lambda pattern: f"Write it as the pattern {pattern} wants.",
    "enum": lambda values: f"Give one of {', '.join(map(shown, values))}.",
    "const": lambda value: f"It must be {shown(value)}.",
    "type": lambda wanted: f"It must be of type {wanted}.",
}


def result_faults(schema: Any, result: Any) -> Faults:
    """Every reason why a result cannot be taken as it is; empty for none."""
    unfit = check_payload(result)
    if unfit:
        return {WHOLE: [f"{fault}." for fault in unfit]}
    errors = PayloadSchema(schema).errors(result)
    if isinstance(errors, str):
        return {WHOLE: [f"{errors[:1].upper()}{errors[1:]}."]}
    found: dict[str, list[str]] = {}
    for error in errors:
        for field, message in _told(error):
            if message not in found.setdefault(field, []):
                found[field].append(message)
    return found


def _told(error: ValidationError) -> Iterator[tuple[str, str]]:
    path = list(error.absolute_path)
    if error.validator == "required" and not path:
        wanted: Any = error.validator_value
        given: Any = error.instance
        yield from ((name, "Fill this in.") for name in wanted if name not in given)
        return
    field = str(path[0]) if path and isinstance(path[0], str) else WHOLE
    deeper = "".join(f"[{step!r}]" for step in path[1:])
    words = WORDS.get(str(error.validator))
    message = words(error.validator_value) if words else f"{clean_text(error.message[:300])}."
    yield field, f"{deeper}: {message}" if deeper else message
