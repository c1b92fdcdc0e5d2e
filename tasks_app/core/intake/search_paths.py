"""Payload paths that a kind declares searchable: which are allowed, and their indexes' names."""

import hashlib
from collections.abc import Iterator
from typing import Final

from tasks_app.core.faults import Fault
from tasks_app.core.search.query_paths import guessed_path, read_path, written_path
from tasks_app.core.words import say

MOST_PATHS: Final = 10
"""Of one kind: each costs every submission of the kind an entry in an index."""

LONGEST_PATH: Final = 200
_EXAMPLE: Final = "payload.customer.id"
PREFIX: Final = "task_path_"
"""With which the names of these indexes begin, and no others."""


def path_faults(paths: object) -> Iterator[Fault]:
    """Faults of a kind's searchable paths, each with its place.

    >>> [str(fault) for fault in path_faults(["payload.customer.id", "customer"])]
    ['searchable_paths[1]: write it as a query does, such as payload.customer.id']
    """
    if not isinstance(paths, list):
        yield Fault("searchable_paths", say("must be a list of paths"))
        return
    for place, path in enumerate(paths):
        wanted = _wanted(path) if isinstance(path, str) and len(path) <= LONGEST_PATH else _EXAMPLE
        if wanted != path:
            message = say("write it as a query does, such as %(path)s", path=wanted)
            yield Fault(f"searchable_paths[{place}]", message)
        elif path in paths[:place]:
            yield Fault(f"searchable_paths[{place}]", say("stands there twice"))
    if len(paths) > MOST_PATHS:
        message = say(
            "at most %(most_paths)s: each costs every submission an entry in an index",
            most_paths=MOST_PATHS,
        )
        yield Fault("searchable_paths", message)


def _wanted(path: str) -> str:
    """How a query writes the path, so that there is one text for each; else what it looks like."""
    keys = read_path(path)
    if keys is not None and path.startswith("payload."):
        return written_path("payload", keys) if "\x00" not in path else _EXAMPLE
    guessed = guessed_path(path)
    return guessed if path.startswith("payload.") and read_path(guessed) else _EXAMPLE


def key_faults(keys: object) -> Iterator[Fault]:
    """Faults of a kind's redacted keys, each with its place.

    >>> [str(fault) for fault in key_faults(["iban", ""])]
    ['redacted_keys[1]: must be the name of a key']
    """
    if not isinstance(keys, list):
        yield Fault("redacted_keys", say("must be a list of keys"))
        return
    for place, key in enumerate(keys):
        if not isinstance(key, str) or not key.strip():
            yield Fault(f"redacted_keys[{place}]", say("must be the name of a key"))


def keys_of(path: str) -> tuple[str, ...]:
    """The keys that lead from a payload to the value.

    >>> keys_of('payload.customer."Ticket ID"')
    ('customer', 'Ticket ID')
    """
    return read_path(path) or ()


def index_name(kind: str, path: str) -> str:
    """The name of the index of a kind's path: the same at every time and place.

    >>> index_name("mail", "payload.to")
    'task_path_16cb21f1b19e92dd'
    """
    return PREFIX + hashlib.sha256(f"{kind}\n{path}".encode()).hexdigest()[:16]
