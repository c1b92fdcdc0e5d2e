"""What can be wrong with one comparison of a query, and what would be right instead."""

import re
from dataclasses import dataclass
from typing import Final

from tasks_app.core.search.queries import Match, Op, Span, quoted, quoted_if_needed
from tasks_app.core.search.query_fields import (
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
from tasks_app.core.search.query_paths import guessed_path, outside_quotes, split_name
from tasks_app.core.words import say, side_by_side

_KEY_OF_WORDS: Final = re.compile(r'[^\s":()]+(?:[ ]+(?P<last>[^\s":()]+))+:[^\s")]+')
"""A path whose last key has blanks in it, without the quotes that it needs."""

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
        told = {"place": self.at.start + 1, "message": self.message}
        if not any(self.remedies):
            return say("at character %(place)s: %(message)s", **told)
        remedy = self.remedies[0]
        return say("at character %(place)s: %(message)s Try: %(remedy)s", remedy=remedy, **told)


def field_fault(match: Match, name: str, written: str) -> QueryFault | None:
    """Whether there is no such field; ``name`` is what stands before the colon of ``written``."""
    at, rest = match.at, written[len(name) + 1 :]
    _, steps = split_name(name)
    if match.field not in FIELDS:
        path = "".join(f".{step}" for step in steps)
        close = [f"{each}{path}:{rest}" for each in nearest(match.field, FIELDS)]
        message = say(
            "There is no field %(name)s. To look for the text itself, put it into quotes.",
            name=name,
        )
        return QueryFault(at, message, (*close, quoted(written)))
    if match.path and match.field not in WITH_PATH:
        message = say("%(field)s has no parts; only payload and result have.", field=match.field)
        return QueryFault(at, message, (f"{match.field}:{rest}",))
    if "" in steps:
        message = say("A path is keys with a single full stop between them.")
        return QueryFault(
            at, message, (".".join([match.field, *filter(None, steps)]) + f":{rest}",)
        )
    return None


def path_fault(query: str, at: Span) -> QueryFault:
    """What is wrong with a path that cannot be read; it goes on behind the fault's place."""
    written = query[at.start : at.end]
    name, colon, value = _parted(written)
    if colon:
        message = say("In a path, a key with other signs than letters, digits, _ and - is quoted.")
        return QueryFault(at, message, (f"{guessed_path(name)}:{value}", quoted(written)))
    message = say(
        "%(written)s needs a colon and a value. To search for the text, put it in quotes.",
        written=written,
    )
    with_value = f"{guessed_path(written)}:{FIELDS[WITH_PATH[0]].example}"
    longer = _KEY_OF_WORDS.match(query, at.start)
    if longer is None:
        return QueryFault(at, message, (with_value, quoted(written)))
    name, _, value = longer.group().rpartition(":")
    after = query[at.end : longer.end()]
    meant = (f"{guessed_path(name)}:{value}", f"{with_value}{after}")
    if longer["last"] in FIELDS:
        meant = (meant[1], meant[0])
    return QueryFault(Span(at.start, longer.end()), message, (*meant, f"{quoted(written)}{after}"))


def _parted(written: str) -> tuple[str, str, str]:
    """The name, the colon and the value; within a quotation that is never closed the last colon."""
    signs = list(outside_quotes(written))
    place = next((place for place, sign in signs if sign == ":"), None)
    if place is None and written.count('"') % 2:
        return written.rpartition(":") if ":" in written else (written, "", "")
    return (written, "", "") if place is None else (written[:place], ":", written[place + 1 :])


def value_fault(match: Match, at: Span, known: Vocabulary) -> QueryFault | None:
    """Whether the value is not what the field takes; the remedies stand for ``op`` and value."""
    field = FIELDS[match.field]
    if not match.value.strip():
        message = say(
            "%(name)s needs %(takes)s after the colon, such as %(example)s.",
            name=match.name,
            takes=field.takes.value,
            example=field.example,
        )
        return QueryFault(Span(at.start - 1, at.end), message, (f":{field.example}",))
    if match.op is not Op.IS and field.takes not in ORDERED:
        message = say("%(name)s cannot be compared with %(op)s.", name=match.name, op=match.op)
        return QueryFault(at, message, (quoted_if_needed(match.value),))
    if field.takes is Takes.JSON:
        return _json_fault(match, at)
    choices = choices_of(field, known)
    if choices is not None:
        return _choice_fault(match, field, at, choices)
    readable = is_readable(field, match.value)
    if readable and (match.op is not Op.IS or field.takes not in ALWAYS_COMPARED):
        return None
    message = say("%(value)s is not %(takes)s.", value=repr(match.value), takes=field.takes.value)
    if readable:
        message = say("%(name)s is compared: put > or < before the value.", name=match.name)
    return QueryFault(at, message, tuple(_instead(match, field, readable)))


def _choice_fault(match: Match, field: Field, at: Span, choices: object) -> QueryFault | None:
    assert isinstance(choices, list | tuple)
    folds = field.takes in (Takes.STATUS, Takes.REASON)
    if match.value in choices or (folds and match.value.lower() in choices):
        return None
    close = nearest(match.value, choices)
    message = say("There is no %(name)s %(value)s.", name=field.name, value=repr(match.value))
    if not close and folds:
        there_are = say("There are: %(choices)s.", choices=", ".join(choices))
        message = side_by_side(message, there_are)
    return QueryFault(at, message, tuple(map(quoted_if_needed, close)))


def _json_fault(match: Match, at: Span) -> QueryFault | None:
    if match.op is Op.IS:
        return None
    if not match.path:
        message = say(
            "%(field)s as a whole cannot be compared with %(op)s: name a path in it.",
            field=match.field,
            op=match.op,
        )
        return QueryFault(at, message, (quoted_if_needed(match.value),))
    if decimal_of(match.value) is None:
        message = say(
            "Only a number, such as 12 or -2.5, can be compared with %(op)s, and not %(value)s.",
            op=match.op,
            value=repr(match.value),
        )
        return QueryFault(at, message, (quoted_if_needed(match.value),))
    return None


def _instead(match: Match, field: Field, readable: bool) -> list[str]:
    """What may have been meant by a value that cannot be read, or that lacks its sign."""
    signs = [match.op] if match.op else [">", "<"]
    if readable:
        return [f"{sign}{quoted_if_needed(match.value)}" for sign in signs]
    if field.takes is Takes.SECONDS and re.fullmatch("[0-9]{1,8}", match.value):
        return [f"{signs[0]}{match.value}{unit}" for unit in ("s", "m", "h")]
    return [field.example]
