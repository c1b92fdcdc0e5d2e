"""What may be written next: fields, and the values that the field before the caret takes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tasks_app.core.search.queries import quoted_if_needed
from tasks_app.core.search.query_fields import (
    FIELDS,
    STATUSES,
    Field,
    Takes,
    Vocabulary,
    choices_of,
)
from tasks_app.core.search.query_paths import outside_quotes, without_quotes
from tasks_app.core.words import say

MOST: Final = 12
"""Suggestions at once."""

SPANS: Final = (">15m", ">1h", ">1d", "<15m", "<1h", "<1d")
NUMBERS: Final = (">0", ">=2", "<0")
STATUS_HINTS: Final = {
    "pending": say("waits for its turn"),
    "assigned": say("given to a worker, not begun"),
    "running": say("a worker is at it"),
    "completed": "done",
    "failed": say("will be tried again"),
    "dead": say("given up, a human decides"),
    "dismissed": say("closed for good"),
    "cancelled": say("called off"),
    "skipped": say("its condition did not hold"),
}


@dataclass(frozen=True, slots=True)
class Completion:
    """A suggestion: ``text`` in place of the characters from ``start`` up to ``end``.

    ``whole`` is the query with it in place; ``label`` and ``hint`` are what a person reads.
    """

    start: int
    end: int
    text: str
    label: str
    hint: str
    whole: str


def complete(query: str, caret: int, known: Vocabulary) -> Sequence[Completion]:
    """Suggest what the word at the caret may become; never raises.

    >>> [each.label for each in complete("sta", 3, Vocabulary())]
    ['status:']
    >>> [each.text for each in complete("status:de", 9, Vocabulary())]
    ['status:dead ']
    """
    end = max(0, min(caret, len(query)))
    start = _word_start(query, end)
    word = query[start:end]
    signs = len(word) - len(word.lstrip("-("))
    start, word = start + signs, word[signs:]
    if word.startswith('"'):
        return ()
    colon = next((place for place, sign in outside_quotes(word) if sign == ":"), len(word))
    name, typed = word[:colon], word[colon + 1 :]
    closed = colon < len(word)
    found = _values(name, typed, known) if closed else _openings(name, known)
    return [
        Completion(start, end, text, label, hint, query[:start] + text + query[end:].lstrip())
        for text, label, hint in list(found)[:MOST]
    ]


def _word_start(query: str, end: int) -> int:
    """Where the word that ends at the caret begins: a quotation is part of its word."""
    blanks = [place for place, sign in outside_quotes(query[:end]) if sign.isspace()]
    return blanks[-1] + 1 if blanks else 0


def _openings(typed: str, known: Vocabulary) -> Iterable[tuple[str, str, str]]:
    """Fields, statuses and searchable paths that begin so; all fields for nothing typed."""
    low = typed.lower()
    for status in STATUSES if low else ():
        if status.startswith(low):
            yield f"status:{status} ", f"status:{status}", STATUS_HINTS[status]
    hints = {field.name: field.hint for field in FIELDS.values()}
    bare = without_quotes(low)
    for name, hint in (hints | dict.fromkeys(known.paths, say("has an index of its own"))).items():
        if without_quotes(name).lower().startswith(bare):
            yield f"{name}:", f"{name}:", hint
    for kind in (known.kinds or ()) if len(low) > 1 else ():
        if low in kind.lower():
            yield f"kind:{quoted_if_needed(kind)} ", f"kind:{kind}", say("a kind")


def _values(name: str, typed: str, known: Vocabulary) -> Iterable[tuple[str, str, str]]:
    field = FIELDS.get(name.lower())
    if field is None:
        return
    sought = typed.lstrip('"').lower()
    for value, hint in _candidates(field, known):
        # A fingerprint is found by the words that belong to it.
        said = f"{value} {hint}" if field.takes is Takes.CAUSE else value
        if sought in said.lower() and value.lower() != sought:
            plain = value if value[0] in "<>" else quoted_if_needed(value)
            yield f"{field.name}:{plain} ", f"{field.name}:{value}", hint


def _candidates(field: Field, known: Vocabulary) -> Iterable[tuple[str, str]]:
    choices = choices_of(field, known)
    if choices is not None:
        return [(each, STATUS_HINTS.get(each, "")) for each in choices]
    if field.takes is Takes.SECONDS:
        return [(each, say("more than") if each[0] == ">" else say("less than")) for each in SPANS]
    if field.takes is Takes.NUMBER:
        return [(each, "") for each in NUMBERS]
    if field.takes is Takes.CAUSE and known.causes:
        return known.causes
    return [(field.example, field.hint)]
