"""The fields that a query may name, and what their values mean."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final
from uuid import UUID

from tasks_app.core.failures.fingerprints import LENGTH, UNMARKED
from tasks_app.core.literals import NotReadable, instant
from tasks_app.core.states import DeadReason, Status
from tasks_app.core.words import say


class Takes(StrEnum):
    """What a field's value must be."""

    STATUS = say("a status")
    REASON = say("a reason")
    KIND = say("a kind")
    WORKER = say("a worker's name")
    TEXT = say("text")
    ID = say("an id or its beginning")
    CAUSE = say("an error's fingerprint (16 digits or letters from a to f) or none")
    NUMBER = say("a whole number")
    SECONDS = say("a time span such as 90s, 15m, 2h or 3d")
    INSTANT = say("an instant such as 2026-01-31 or 2026-01-31T08:00")
    JSON = say("a text or number")


ORDERED: Final = frozenset({Takes.NUMBER, Takes.SECONDS, Takes.INSTANT, Takes.JSON})
"""What may be compared with > and <."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field; ``hint`` is what completion says about it, ``example`` a value."""

    name: str
    takes: Takes
    hint: str
    example: str


FIELDS: Final[Mapping[str, Field]] = {
    each.name: each
    for each in (
        Field("status", Takes.STATUS, say("where it stands"), "dead"),
        Field("kind", Takes.KIND, say("its kind"), "classify_ticket"),
        Field("worker", Takes.WORKER, say("who holds it or held it"), "w3"),
        Field("error", Takes.TEXT, say("in the class or message of its last error"), "Timeout"),
        Field("key", Takes.TEXT, say("its key, or the beginning of it with *"), "order-17*"),
        Field("id", Takes.ID, say("its id, or the first 8 digits and more"), "0192f3a1"),
        Field("job", Takes.TEXT, say("the id or name of its job"), "end-of-day"),
        Field("reason", Takes.REASON, say("why it was given up"), "poison"),
        Field("cause", Takes.CAUSE, say("the fingerprint of its last death"), "0a1b2c3d4e5f6071"),
        Field("age", Takes.SECONDS, say("time since it was submitted"), ">1h"),
        Field("duration", Takes.SECONDS, say("how long its last attempt ran"), ">30s"),
        Field("attempts", Takes.NUMBER, say("attempts since it was submitted or requeued"), ">=2"),
        Field("requeues", Takes.NUMBER, say("how often a person brought it back"), ">0"),
        Field("priority", Takes.NUMBER, say("its priority"), "<0"),
        Field("lock", Takes.TEXT, say("the lock that it needs"), "account-7"),
        Field("created", Takes.INSTANT, say("when it was submitted (UTC)"), ">=2026-01-31"),
        Field("ended", Takes.INSTANT, say("when it ended (UTC)"), "<2026-01-31T08:00"),
        Field(
            "payload", Takes.JSON, say('in its payload; payload.a."b c" is the value there'), "42"
        ),
        Field(
            "result", Takes.JSON, say('in its result; result.a."b c" is the value there'), "spam"
        ),
    )
}

WITH_PATH: Final = ("payload", "result")
"""Fields that a path of keys may follow."""

UNITS: Final[Mapping[str, float]] = {
    "ms": 0.001,
    "s": 1.0,
    "sec": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "w": 604800.0,
}
LONGEST_SPAN: Final = 100 * 365 * 86400.0
LEAST_PREFIX: Final = 8
"""Digits from which a text is also tried as the beginning of an id: shorter ones mean a word."""

_PART: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(ms|min|sec|[smhdw])")
_NUMBER: Final = re.compile(r"-?[0-9]{1,9}")
_DECIMAL: Final = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?")
_EARLIEST: Final = datetime(1970, 1, 2, tzinfo=UTC)
_LATEST: Final = datetime(9000, 1, 1, tzinfo=UTC)


def seconds_of(text: str) -> float | None:
    """A time span in seconds, or None for what is none.

    >>> seconds_of("90s"), seconds_of("1h30m"), seconds_of("1.5d"), seconds_of("5")
    (90.0, 5400.0, 129600.0, None)
    """
    text = text.lower()
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    total = sum(float(number) * UNITS[unit] for number, unit in parts)
    return total if total <= LONGEST_SPAN else None


def number_of(text: str) -> int | None:
    """A whole number, or None.

    >>> number_of("-7"), number_of("7.5")
    (-7, None)
    """
    return int(text) if _NUMBER.fullmatch(text) else None


def decimal_of(text: str) -> Decimal | None:
    """A number as JSON writes it, exactly: what two numbers differ in, no double may hold.

    >>> decimal_of("9007199254740993"), decimal_of("-2.5e3"), decimal_of("nan")
    (Decimal('9007199254740993'), Decimal('-2.5E+3'), None)
    """
    return Decimal(text) if _DECIMAL.fullmatch(text) else None


def instant_of(text: str) -> datetime | None:
    """An instant, UTC where it names no zone, or None.

    >>> instant_of("2026-01-31T08:00+01:00").isoformat(), instant_of("yesterday")
    ('2026-01-31T07:00:00+00:00', None)
    """
    try:
        found = instant(text, UTC, or_date=True)
    except NotReadable:
        return None
    return found if _EARLIEST <= found <= _LATEST else None


def id_range(text: str) -> tuple[UUID, UUID] | None:
    """The first and the last id that begin so, or None where the text begins no id.

    >>> id_range("01920000-1")
    (UUID('01920000-1000-0000-0000-000000000000'), UUID('01920000-1fff-ffff-ffff-ffffffffffff'))
    >>> id_range("0192"), id_range("classify")
    (None, None)
    """
    digits = text.replace("-", "").lower()
    if not LEAST_PREFIX <= len(digits) <= 32 or set(digits) - set("0123456789abcdef"):
        return None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))


def whole_id(text: str) -> UUID | None:
    """The id that a text is in full, or None.

    >>> whole_id("01920000-1fff-7000-8000-000000000000"), whole_id("01920000")
    (UUID('01920000-1fff-7000-8000-000000000000'), None)
    """
    bounds = id_range(text)
    return bounds[0] if bounds and bounds[0] == bounds[1] else None


def cause_of(text: str) -> str | None:
    """An error's fingerprint as the record has it, or None for what is none.

    >>> cause_of("0A1B2C3D4E5F6071"), cause_of("None"), cause_of("KeyError")
    ('0a1b2c3d4e5f6071', 'none', None)
    """
    low = text.lower()
    return low if low == UNMARKED or re.fullmatch(f"[0-9a-f]{{{LENGTH}}}", low) else None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names on record; None where they are not known, and then none is refused.

    ``paths`` are the payload paths that kinds declare searchable; ``causes`` the errors that tasks
    are dead of now, each with its fingerprint and a word for it: suggestions only.
    """

    kinds: Sequence[str] | None = None
    workers: Sequence[str] | None = None
    paths: Sequence[str] = ()
    causes: Sequence[tuple[str, str]] = ()


STATUSES: Final = [status.lower() for status in Status]
REASONS: Final = [reason.value for reason in DeadReason]


def choices_of(field: Field, known: Vocabulary) -> Sequence[str] | None:
    """The values that a field may have, or None where there is no list of them."""
    return {
        Takes.STATUS: STATUSES,
        Takes.REASON: REASONS,
        Takes.KIND: known.kinds,
        Takes.WORKER: known.workers,
    }.get(field.takes)


def nearest(word: str, choices: Iterable[str], most: int = 3) -> list[str]:
    """Those that the word may have been meant for, the best first.

    >>> nearest("statsu", ["status", "kind"]), nearest("ded", ["dead", "running"])
    (['status'], ['dead'])
    """
    by_fold = {each.casefold(): each for each in choices}
    found = difflib.get_close_matches(word.casefold()[:100], by_fold, n=most, cutoff=0.55)
    return [by_fold[each] for each in found]


READERS: Final = {
    Takes.NUMBER: number_of,
    Takes.SECONDS: seconds_of,
    Takes.INSTANT: instant_of,
    Takes.ID: id_range,
    Takes.CAUSE: cause_of,
}


def is_readable(field: Field, value: str) -> bool:
    """Whether a value is what the field takes; lists of names are not looked at."""
    reader = READERS.get(field.takes)
    return value != "" and (reader is None or reader(value) is not None)
