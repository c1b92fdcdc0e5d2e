"""Which errors are worth another attempt: a table that is data, and a kind's additions to it.

An entry is an exception's class name, dotted ("httpx.ConnectError") or bare ("ConnectError", from
any module), and covers its subclasses; or an HTTP status ("HTTP 409") or status class ("HTTP 4xx").
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tasks_app.core.facts import ErrorFacts, RetryPolicy
from tasks_app.core.faults import Fault
from tasks_app.core.words import say


class ErrorClass(StrEnum):
    """What another attempt can be expected to bring; UNKNOWN is retried."""

    PERMANENT = "permanent"
    RETRYABLE = "retryable"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Classification:
    """The class of an error and the entry or word that decided it ("" where nothing did)."""

    error_class: ErrorClass
    rule: str = ""


ERROR_TABLE: Final[Mapping[str, ErrorClass]] = {
    # The request itself is wrong, or the caller may not make it: the same again fails the same.
    "HTTP 400": ErrorClass.PERMANENT,
    "HTTP 401": ErrorClass.PERMANENT,
    "HTTP 403": ErrorClass.PERMANENT,
    "HTTP 404": ErrorClass.PERMANENT,
    "HTTP 422": ErrorClass.PERMANENT,
    # The other side is late, busy or broken for now.
    "HTTP 408": ErrorClass.RETRYABLE,
    "HTTP 425": ErrorClass.RETRYABLE,
    "HTTP 429": ErrorClass.RETRYABLE,
    "HTTP 5xx": ErrorClass.RETRYABLE,
    # Schema violations. The bare name is what jsonschema, pydantic, Django and marshmallow use.
    "ValidationError": ErrorClass.PERMANENT,
    "jsonschema.exceptions.SchemaError": ErrorClass.PERMANENT,
    # Timeouts and connections. The built-in two cover sockets and asyncio; HTTP clients that do not
    # derive from them use the other names.
    "TimeoutError": ErrorClass.RETRYABLE,
    "ConnectionError": ErrorClass.RETRYABLE,
    "Timeout": ErrorClass.RETRYABLE,
    "TimeoutException": ErrorClass.RETRYABLE,
    "TransportError": ErrorClass.RETRYABLE,
    "socket.gaierror": ErrorClass.RETRYABLE,
    "http.client.IncompleteRead": ErrorClass.RETRYABLE,
    # Databases call lost connections, deadlocks and restarts by this name (PEP 249).
    "OperationalError": ErrorClass.RETRYABLE,
}

_ENTRY: Final = re.compile(r"HTTP (?:[1-5][0-9]{2}|[1-5]xx)|[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def classify_error(error: ErrorFacts, policy: RetryPolicy) -> Classification:
    """Class an error: the handler's word, then the kind's entries, then the table.

    Within each of the two an HTTP status counts before a class name, an exact status before its
    class, and the error's own class before its ancestors. Said both ways, permanent wins.

    >>> classify_error(ErrorFacts("httpx.HTTPStatusError", "gone", status=404), RetryPolicy())
    Classification(error_class=<ErrorClass.PERMANENT: 'permanent'>, rule='HTTP 404')
    >>> classify_error(
    ...     ErrorFacts("httpx.HTTPStatusError", "not yet", status=404),
    ...     RetryPolicy(retryable_errors=["HTTP 4xx"]),
    ... )
    Classification(error_class=<ErrorClass.RETRYABLE: 'retryable'>, rule='HTTP 4xx')
    """
    if error.permanent:
        return Classification(ErrorClass.PERMANENT, "handler")
    if error.retryable:
        return Classification(ErrorClass.RETRYABLE, "handler")
    names = _names_of(error)
    for table in (_table_of(policy), ERROR_TABLE):
        for name in names:
            if name in table:
                return Classification(table[name], name)
    return Classification(ErrorClass.UNKNOWN)


def validate_error_entries(permanent: Sequence[str], retryable: Sequence[str]) -> Sequence[Fault]:
    """Every fault of a kind's two lists: entries that can never match, or that stand in both.

    >>> [str(fault) for fault in validate_error_entries(["HTTP 4x"], [])]
    ["permanent_errors[0]: 'HTTP 4x' is neither a class name nor an HTTP status"]
    """
    faults = []
    for field, entries in (("permanent_errors", permanent), ("retryable_errors", retryable)):
        for place, entry in enumerate(entries):
            if not _ENTRY.fullmatch(entry):
                message = say(
                    "%(entry)s is neither a class name nor an HTTP status", entry=repr(entry)
                )
                faults.append(Fault(f"{field}[{place}]", message))
    both = set(map(_normal, permanent)) & set(map(_normal, retryable))
    for place, entry in enumerate(retryable):
        if _normal(entry) in both:
            message = say("%(entry)s is also in permanent_errors", entry=repr(entry))
            faults.append(Fault(f"retryable_errors[{place}]", message))
    return faults


def _names_of(error: ErrorFacts) -> Sequence[str]:
    """Every entry that would match this error, the most telling first."""
    names = []
    if error.status is not None:
        names += [f"HTTP {error.status}", f"HTTP {error.status // 100}xx"]
    for dotted in (error.type, *error.bases):
        name = _normal(dotted)
        names.append(name)
        if "." in name:
            names.append(name.rpartition(".")[2])
    return names


def _table_of(policy: RetryPolicy) -> Mapping[str, ErrorClass]:
    """The kind's own entries; written last, the permanent ones win."""
    table = dict.fromkeys(_normals(policy.retryable_errors), ErrorClass.RETRYABLE)
    table.update(dict.fromkeys(_normals(policy.permanent_errors), ErrorClass.PERMANENT))
    return table


def _normals(entries: Iterable[str]) -> Iterable[str]:
    return map(_normal, entries)


def _normal(name: str) -> str:
    """The name without ``builtins.``, which some runtimes write and nobody types."""
    return name.removeprefix("builtins.")
