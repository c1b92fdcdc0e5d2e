"""Make a reported error storable and short enough to read, without ever raising."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tasks_app.core.facts import ErrorFacts
from tasks_app.core.sanitise import clean_text, sanitise

MAX_NAME: Final = 200
MAX_BASES: Final = 20
MAX_MESSAGE: Final = 2_000
MAX_TRACEBACK: Final = 20_000
"""Characters. A traceback's head says what was called, its tail what went wrong."""


def clean_error(error: ErrorFacts) -> ErrorFacts:
    """The error with every field within its bounds and fit for jsonb, whatever was put in it."""
    return replace(
        error,
        type=_text(error.type, MAX_NAME),
        message=_text(error.message, MAX_MESSAGE),
        traceback=_text(error.traceback, MAX_TRACEBACK),
        bases=_names(error.bases),
        status=_status(error.status),
        retry_after=_seconds(error.retry_after),
        permanent=error.permanent is True,
        retryable=error.retryable is True,
    )


def shorten(text: str, limit: int) -> str:
    """The text in at most ``limit`` characters, its head and its tail kept in equal parts.

    >>> shorten("a" * 50 + "z" * 50, 40)
    'aaaaaaaaa\\n[cut: 83 characters]\\nzzzzzzzz'
    """
    if len(text) <= limit:
        return text
    # Sized by its longest form: the count of what is cut depends on the marker's own length.
    marker = f"\n[cut: {len(text)} characters]\n"
    head, tail = (limit - len(marker) + 1) // 2, (limit - len(marker)) // 2
    if tail <= 0:
        return text[:limit]
    cut = len(text) - head - tail
    return f"{text[:head]}\n[cut: {cut} characters]\n{text[-tail:]}"


def _text(value: object, limit: int) -> str:
    text = value if isinstance(value, str) else str(sanitise(value))
    return clean_text(shorten(str.__str__(text), limit))


def _names(value: object) -> Sequence[str]:
    plain = sanitise(value)
    return [_text(name, MAX_NAME) for name in plain[:MAX_BASES]] if isinstance(plain, list) else []


def _status(value: object) -> int | None:
    """An HTTP status, or None for what is none."""
    return value if isinstance(value, int) and 100 <= value <= 599 else None


def _seconds(value: object) -> float | None:
    """A wait of 0 s or more; infinity is one too long for JSON, and NaN is none."""
    # NaN is not 0 or more; an integer too large for a float can be compared all the same.
    if not isinstance(value, int | float) or not value >= 0:
        return None
    return float(min(value, 1e9))
