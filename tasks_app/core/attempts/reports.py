"""What a worker says of its tasks, brought within what can be stored, without ever raising.

A worker of another version, or a program that speaks the protocol itself, may send anything; one
value out of bounds must not cost the other reports of its batch, nor a sign of life.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

from tasks_app.core.bounds import clamped
from tasks_app.core.failures.error_text import shorten
from tasks_app.core.sanitise import clean_text

HIGHEST_TOKEN: Final = 2**63 - 1
LONGEST_TEXT: Final = 300
LONGEST_LEVEL: Final = 20
LAST_SECOND: Final = 4_102_444_800.0
"""The end of the century, in seconds since the epoch."""


def is_token(value: object) -> bool:
    """Whether a number could be a token at all; any other is one that nobody holds.

    >>> is_token(7), is_token(0), is_token(2**63), is_token("7"), is_token(True)
    (True, False, False, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= HIGHEST_TOKEN


def progress_note(fraction: object, note: object) -> dict[str, Any]:
    """How far a task is, as the record keeps it; None for a share that is no number.

    >>> progress_note(float("nan"), "a"), progress_note(1e308, "b")
    ({'fraction': None, 'note': 'a'}, {'fraction': 1.0, 'note': 'b'})
    """
    share = _number(fraction)
    return {
        "fraction": None if share is None else clamped(share, 0.0, 1.0),
        "note": _text(note, LONGEST_TEXT),
    }


def log_lines(lines: Sequence[Sequence[Any]], most: int) -> list[tuple[float, str, str]]:
    """The latest lines; those that are none are left out.

    >>> log_lines([(1.5, "INFO", "x"), ("?",), (float("inf"), "INFO", "y")], 2)
    [(1.5, 'INFO', 'x'), (4102444800.0, 'INFO', 'y')]
    """
    known = [line for line in lines if len(line) == 3 and _number(line[0]) is not None]
    return [
        (
            clamped(_number(at) or 0.0, 0.0, LAST_SECOND),
            _text(level, LONGEST_LEVEL),
            _text(text, LONGEST_TEXT),
        )
        for at, level, text in known[-most:]
    ]


def _number(value: object) -> float | None:
    """A float, infinity included; None for what is no number. A huge integer has no float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not -math.inf <= value <= math.inf:
        return None
    return float(min(max(value, -1e300), 1e300))


def _text(value: object, longest: int) -> str:
    return clean_text(shorten(value, longest)) if isinstance(value, str) else ""
