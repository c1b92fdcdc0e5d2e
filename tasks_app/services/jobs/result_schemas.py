"""Results that people write, held against their kind's schema: each fault at its field."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from jsonschema.exceptions import ValidationError

from tasks_app.core.drawing.result_forms import WHOLE
from tasks_app.core.intake.new_tasks import shown
from tasks_app.core.intake.payloads import check_payload
from tasks_app.core.sanitise import clean_text
from tasks_app.core.words import say, say_count
from tasks_app.services.intake.payload_schemas import PayloadSchema

Faults = Mapping[str, Sequence[str]]
"""Messages by field; those of the whole result stand under ``WHOLE``."""

WORDS: Final[Mapping[str, Callable[[Any], str]]] = {
    "minLength": lambda least: say_count(
        "Write at least %(count)s character.", "Write at least %(count)s characters.", least
    ),
    "maxLength": lambda most: say_count(
        "Write at most %(count)s character.", "Write at most %(count)s characters.", most
    ),
    "minimum": lambda least: say("Give %(least)s or more.", least=least),
    "maximum": lambda most: say("Give %(most)s or less.", most=most),
    "exclusiveMinimum": lambda least: say("Give more than %(least)s.", least=least),
    "exclusiveMaximum": lambda most: say("Give less than %(most)s.", most=most),
    "multipleOf": lambda step: say("Give a multiple of %(step)s.", step=step),
    "minItems": lambda least: say("Choose at least %(least)s.", least=least),
    "maxItems": lambda most: say("Choose at most %(most)s.", most=most),
    "uniqueItems": lambda _: say("Give each value once."),
    "pattern": lambda pattern: say("Write it as the pattern %(pattern)s wants.", pattern=pattern),
    "enum": lambda values: say("Give one of %(shown)s.", shown=", ".join(map(shown, values))),
    "const": lambda value: say("It must be %(value)s.", value=shown(value)),
    "type": lambda wanted: say("It must be of type %(wanted)s.", wanted=wanted),
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
        yield from ((name, say("Fill this in.")) for name in wanted if name not in given)
        return
    field = str(path[0]) if path and isinstance(path[0], str) else WHOLE
    deeper = "".join(f"[{step!r}]" for step in path[1:])
    words = WORDS.get(str(error.validator))
    message = words(error.validator_value) if words else f"{clean_text(error.message[:300])}."
    yield field, f"{deeper}: {message}" if deeper else message
