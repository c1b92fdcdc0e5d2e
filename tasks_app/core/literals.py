"""Values that people and files write as text, read by one rule wherever they come in.

Python's own readers take more than data means: ``int`` takes 12_34 and digits of every script,
``float`` takes nan and 1e5, ``datetime.fromisoformat`` takes 20300131 and 2030-W05.
"""

import math
import re
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from typing import Final

from tasks_app.core.words import say

WHOLE_NUMBER: Final = say("a whole number in plain decimal digits, such as 12 or -3")
NUMBER: Final = say("a number in plain decimal digits, such as 12 or -0.5")
TRUTH: Final = say("true, yes, 1, false, no or 0")
INSTANT: Final = say("an instant with its time zone, such as 2030-01-31T08:00:00+01:00")

_WHOLE: Final = re.compile(r"-?[0-9]{1,400}")
_DECIMAL: Final = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?")
_INSTANT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ](?P<time>[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?)"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_TRUTHS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class NotReadable(ValueError):
    """A text that is not what was asked for; the message says what to give."""


def whole_number(text: str) -> int:
    """Read a whole number. Raises NotReadable.

    >>> whole_number("-12"), whole_number("007")
    (-12, 7)
    """
    if not _WHOLE.fullmatch(text):
        raise NotReadable(say("give %(form)s", form=WHOLE_NUMBER))
    return int(text)


def decimal_number(text: str) -> float:
    """Read a number whose every digit is kept; one without a fraction is whole. Raises NotReadable.

    >>> decimal_number("2.50"), decimal_number("9007199254740993")
    (2.5, 9007199254740993)
    >>> decimal_number("0.12345678901234567890")
    Traceback (most recent call last):
    ...
    tasks_app.core.literals.NotReadable: more digits than a number can hold: give it as text
    """
    found = _DECIMAL.fullmatch(text)
    if not found:
        raise NotReadable(say("give %(form)s", form=NUMBER))
    if found[1] is None:
        return int(text)
    number = float(text)
    if math.isfinite(number) and Decimal(text) == Decimal(repr(number)):
        return number
    raise NotReadable(say("more digits than a number can hold: give it as text"))


def plain(number: float) -> str:
    """Write a number as it is read here.

    >>> plain(1e16), plain(0.5), plain(3)
    ('10000000000000000', '0.5', '3')
    """
    return format(Decimal(repr(number)), "f")


def truth(text: str) -> bool:
    """Read a yes or no. Raises NotReadable.

    >>> truth("Yes"), truth("0")
    (True, False)
    """
    found = _TRUTHS.get(text.lower()) if text.isascii() else None
    if found is None:
        raise NotReadable(say("give %(form)s", form=TRUTH))
    return found


def instant(text: str, zone: tzinfo | None = None, *, or_date: bool = False) -> datetime:
    """Read a date and time; ``zone`` is meant where the text names none. Raises NotReadable.

    ``or_date`` takes a date alone for its first instant.

    >>> instant("2030-01-31T08:00:00+01:00").isoformat()
    '2030-01-31T07:00:00+00:00'
    >>> instant("2030-01-31", UTC, or_date=True).isoformat()
    '2030-01-31T00:00:00+00:00'
    """
    found = _INSTANT.fullmatch(text)
    missing_zone = found is not None and found["zone"] is None and zone is None
    if found is None or missing_zone or (found["time"] is None and not or_date):
        raise NotReadable(say("give %(form)s", form=INSTANT))
    try:
        read = datetime.fromisoformat(text)
        # At the edge of what datetime holds an instant cannot be converted.
        return (read if read.tzinfo else read.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise NotReadable(say("no such date or time: give %(form)s", form=INSTANT)) from error
