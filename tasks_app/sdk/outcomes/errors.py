"""An exception becomes facts that travel; whatever user code raised, this never raises."""

import email.utils
import math
import signal
import time
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC
from typing import Any, Final, TypeVar

from tasks_app.core.facts import ErrorFacts
from tasks_app.core.failures.error_text import clean_error
from tasks_app.core.literals import decimal_number
from tasks_app.sdk.outcomes.raised import PermanentError, RetryableError

T = TypeVar("T")

_STATUS_PLACES: Final = ("status_code", "status", "code")
"""Where clients keep an HTTP status: httpx and requests, aiohttp, urllib."""


def describe(error: BaseException, permanent: tuple[type[BaseException], ...] = ()) -> ErrorFacts:
    """The facts of an exception; ``permanent`` are the classes that its handler declared so."""
    ancestors = type(error).__mro__[1:-1]
    return clean_error(
        ErrorFacts(
            type=class_name(type(error)),
            message=_read(lambda: str(error), "[the message cannot be read]"),
            traceback=_read(lambda: "".join(traceback.format_exception(error)), ""),
            bases=tuple(class_name(cls) for cls in ancestors),
            status=_read(lambda: _status_of(error), None),
            retry_after=_read(lambda: _retry_after_of(error), None),
            permanent=_read(lambda: isinstance(error, (PermanentError, *permanent)), False),
            retryable=isinstance(error, RetryableError),
        )
    )


def _read(read: Callable[[], T], otherwise: T) -> T:
    """What is read from an exception; a hostile __str__ or property must not lose the failure."""
    try:
        return read()
    except BaseException:  # noqa: BLE001  user code may raise anything here, SystemExit too
        return otherwise


def class_name(cls: type) -> str:
    """The dotted name of a class, past whatever its metaclass says; a built-in's is bare."""
    name = str(type.__dict__["__qualname__"].__get__(cls))
    module = type.__dict__["__module__"].__get__(cls)
    return name if module == "builtins" else f"{module}.{name}"


def timed_out(timeout: float) -> ErrorFacts:
    """The facts of an attempt that was stopped at its timeout, in seconds."""
    return ErrorFacts(
        type="HandlerTimeout",
        message=f"the handler did not finish within {timeout:g} s",
        bases=("TimeoutError",),
    )


def crashed(exit_code: int | None) -> ErrorFacts:
    """The facts of a child process that ended under its task; a negative code is a signal's."""
    return ErrorFacts(
        type="WorkerCrashed",
        message=f"the process that ran the task {_ending(exit_code)}",
    )


def _ending(exit_code: int | None) -> str:
    if exit_code is None:
        return "closed its link to the worker"
    if exit_code >= 0:
        return f"exited with code {exit_code}"
    try:
        return f"was ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was ended by signal {-exit_code}"


def _status_of(error: BaseException) -> int | None:
    """An HTTP status found on the exception or on its response."""
    if isinstance(error, SystemExit):
        return None  # its code is a process's
    for source in (getattr(error, "response", None), error):
        for place in _STATUS_PLACES:
            found = getattr(source, place, None)
            if isinstance(found, int) and 100 <= found <= 599:
                return int(found)
    return None


def _retry_after_of(error: BaseException) -> float | None:
    """Seconds that the other side asked to wait, from the exception or its response's headers."""
    found = getattr(error, "retry_after", None)
    if found is None:
        for source in (getattr(error, "response", None), error):
            found = found or _header(getattr(source, "headers", None), "retry-after")
    return _as_seconds(found)


def _header(headers: Any, name: str) -> Any:
    """A header's value, whatever the case of its name; mappings of any client."""
    if not isinstance(headers, Mapping) and not hasattr(headers, "items"):
        return None
    for key, value in headers.items():
        if str(key).lower() == name:
            return value
    return None


def _as_seconds(value: Any) -> float | None:
    """Seconds from a number, its text, or an HTTP date; None for anything else."""
    if value is None or isinstance(value, bool):
        return None
    try:
        seconds = decimal_number(value.strip()) if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        return _until(str(value))
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _until(date: str) -> float | None:
    try:
        instant = email.utils.parsedate_to_datetime(date)
    except ValueError:
        return None
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    return max(0.0, instant.timestamp() - time.time())
