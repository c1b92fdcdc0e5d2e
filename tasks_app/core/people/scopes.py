"""What a program's token may do: scopes, each independent of the others."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from tasks_app.core.words import say


class Scope(StrEnum):
    """One right of a token."""

    READ = "tasks:read"
    SUBMIT = "tasks:write"
    JOBS = "jobs:write"
    OPERATE = "operate"
    PAYLOADS = "payloads"
    METRICS = "metrics"


MEANINGS: Final[Mapping[Scope, str]] = {
    Scope.READ: say("look at tasks, jobs and kinds"),
    Scope.SUBMIT: say("submit tasks"),
    Scope.JOBS: say("submit jobs"),
    Scope.OPERATE: say("act as an operator does: pause, resume, cancel, requeue"),
    Scope.PAYLOADS: say("see what is masked in payloads and results"),
    Scope.METRICS: say("read /metrics"),
}

STANDARD: Final = (Scope.READ, Scope.SUBMIT, Scope.JOBS)
"""What a token gets unless its maker says otherwise: a program that submits and asks."""


def read_scopes(words: Iterable[str]) -> tuple[Scope, ...]:
    """Read scopes, each once, in the order of the enum. Raises ValueError that names a wrong one.

    >>> read_scopes(["operate", "tasks:read", "operate"])
    (<Scope.READ: 'tasks:read'>, <Scope.OPERATE: 'operate'>)
    """
    given = set(words)
    unknown = sorted(given - set(Scope))
    if unknown:
        raise ValueError(
            say(
                "scope: %(value)s is none; there are %(scope)s",
                value=repr(unknown[0]),
                scope=", ".join(Scope),
            )
        )
    if not given:
        raise ValueError(say("scope: give at least one of %(scope)s", scope=", ".join(Scope)))
    return tuple(scope for scope in Scope if scope in given)
