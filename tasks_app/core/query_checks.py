"""What can be wrong with one comparison of a query, and what would be right instead."""

from dataclasses import dataclass
from typing import Final

from tasks_app.core.queries import Match, Op, Span, quoted, quoted_if_needed
from tasks_app.core.query_fields import (
    FIELDS,
    ORDERED,
    WITH_PATH,
    Field,
    Takes,
    Vocabulary,
    choices_of,
    decimal_of,
    is_readable,
    nearest,
)

ALWAYS_COMPARED: Final = (Takes.SECONDS, Takes.INSTANT)
"""Nothing is ever exactly so old."""


@dataclass(frozen=True, slots=True)
class QueryFault:
    """What is wrong (``message``) and where; ``remedies`` are whole queries that would be right."""

    at: Span
    message: str
    remedies: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line for a terminal or a program."""
        said = f"at character {self.at.start + 1}: {self.message}"
        return f"{said} Try: {self.remedies[0]}" if any(self.remedies) else said


def field_fault(match: Match, at: Span, written: str) -> QueryFault | None:
    """Whether there is no such field; ``at`` is all of ``written``, and so are the remedies."""
    name, _, rest = written.partition(":")
    if match.field not in FIELDS:
        path = "".join(f".{part}" for part in match.path)
        close = [f"{each}{path}:{rest}" for each in nearest(match.field, FIELDS)]
        message = f"There is no field {name}. To look for the text itself, put it into quotes."
        return QueryFault(at, message, (*close, quoted(written)))
    if match.path and match.field not in WITH_PATH:
        message = f"{match.field} has no parts; only payload and result have."
        return QueryFault(at, message, (f"{match.field}:{rest}",))
    if match.path and "" in match.path:
        message = "A path is keys with a single full stop between them."
        name = ".".join([match.field, *filter(None, match.path)])
        return QueryFault(at, message, (f"{name}:{rest}",))
    return None


def value_fault(match: Match, at: Span, known: Vocabulary) -> QueryFault | None:
    """Whether the value is not what the field takes; the remedies stand for ``op`` and value."""
    field = FIELDS[match.field]
    if not match.value.strip():
        message = f"{match.name} needs {field.takes} after the colon, such as {field.example}."
        return QueryFault(Span(at.start - 1, at.end), message, (f":{field.example}",))
    if match.op is not Op.IS and field.takes not in ORDERED:
        message = f"{match.name} cannot be compared with {match.op}."
        return QueryFault(at, message, (quoted_if_needed(match.value),))
    if field.takes is Takes.JSON:
        return _json_fault(match, at)
    choices = choices_of(field, known)
    if choices is not None:
        return _choice_fault(match, field, at, choices)
    readable = is_readable(field, match.value)
    if readable and (match.op is not Op.IS or field.takes not in ALWAYS_COMPARED):
        return None
    message = f"{match.value!r} is not {field.takes}."
    if readable:
        message = f"{match.name} is compared: put > or < before the value."
    return QueryFault(at, message, tuple(_instead(match, field, readable)))


def _choice_fault(match: Match, field: Field, at: Span, choices: object) -> QueryFault | None:
    assert isinstance(choices, list | tuple)
    folds = field.takes in (Takes.STATUS, Takes.REASON)
    if match.value in choices or (folds and match.value.lower() in choices):
        return None
    close = nearest(match.value, choices)
    message = f"There is no {field.name} {match.value!r}."
    if not close and folds:
        message += f" There are: {', '.join(choices)}."
    return QueryFault(at, message, tuple(map(quoted_if_needed, close)))


def _json_fault(match: Match, at: Span) -> QueryFault | None:
    if match.op is Op.IS:
        return None
    if not match.path:
        message = f"{match.field} as a whole cannot be compared with {match.op}: name a path in it."
        return QueryFault(at, message, (quoted_if_needed(match.value),))
    if decimal_of(match.value) is None:
        message = f"Only a number can be compared with {match.op}, and {match.value!r} is none."
        return QueryFault(at, message, (quoted_if_needed(match.value),))
    return None


def _instead(match: Match, field: Field, readable: bool) -> list[str]:
    """What may have been meant by a value that cannot be read, or that lacks its sign."""
    signs = [match.op] if match.op else [">", "<"]
    if readable:
        return [f"{sign}{quoted_if_needed(match.value)}" for sign in signs]
    if field.takes is Takes.SECONDS and match.value.isdecimal() and len(match.value) < 9:
        return [f"{signs[0]}{match.value}{unit}" for unit in ("s", "m", "h")]
    return [field.example]
