"""Numbers that somebody wrote as text, read exactly or refused: never rounded without a word."""

import re
from decimal import Decimal
from typing import Final

from tasks_app.core.words import say

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,400}")
_DECIMAL: Final = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?")


def whole_number(text: str) -> int:
    """A whole number in plain decimal digits, of any size. Raises ValueError.

    >>> whole_number(" 9007199254740993 ")
    9007199254740993
    """
    if not _WHOLE.fullmatch(text.strip()):
        raise ValueError(say("is no whole number in decimal digits"))
    return int(text)


def exact_number(text: str) -> int | float:
    """A number; one without a fraction is whole, however large. Raises ValueError.

    What has a fraction or an exponent is kept in double precision, as JSON's readers do.

    >>> exact_number("9007199254740993"), exact_number("2.50"), exact_number("1e3")
    (9007199254740993, 2.5, 1000.0)
    """
    text = text.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    if not _DECIMAL.fullmatch(text):
        raise ValueError(say("is no number in decimal digits"))
    number = float(text)
    if abs(number) == float("inf"):
        raise ValueError(say("is larger than a number with a fraction may be"))
    if Decimal(text) != Decimal(repr(number)):
        raise ValueError(
            say("has more digits than a number with a fraction keeps: %(kept)s", kept=repr(number))
        )
    return number
