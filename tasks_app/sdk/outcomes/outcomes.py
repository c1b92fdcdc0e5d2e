"""How one attempt ended on this machine, and what is reported of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from tasks_app.core.facts import ErrorFacts
from tasks_app.sdk.link import Completion, Failure


class Stop(StrEnum):
    """Why the worker stops an attempt of its own."""

    CANCEL = "an operator cancelled it"
    TIMEOUT = "it reached its timeout"
    LOST = "its lease is lost"
    BOOT_ENDED = "this boot's leases can no longer be renewed"
    DRAIN = "the worker's grace is over"
    UNABLE = "this worker could not begin it"


ABANDONED = frozenset({Stop.LOST, Stop.BOOT_ENDED})
"""Stops after which the lease is not ours to renew: the token is no longer named."""


@dataclass(frozen=True, slots=True)
class Done:
    """The handler returned; ``result`` is sanitised JSON."""

    result: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """The handler raised.

    ``out_of_memory`` where its process had no memory left; ``lost_program`` where a program that
    the handler ran failed or went away.
    """

    error: ErrorFacts
    out_of_memory: bool = False
    lost_program: bool = False


@dataclass(frozen=True, slots=True)
class Stopped:
    """The handler gave way to a stop, was killed for one, or never began."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """The child process died under the handler without being asked to.

    ``by_signal`` where a stop signal ended it.
    """

    error: ErrorFacts
    by_signal: bool = False


Outcome = Done | Raised | Stopped | Crashed


@dataclass(frozen=True, slots=True)
class LetGo:
    """A started task handed back unfinished, without using up an attempt."""

    task_id: UUID
    token: int


Report = Completion | Failure | LetGo


def report_of(task_id: UUID, token: int, outcome: Outcome, stop: Stop | None) -> Report | None:
    """What to say of an attempt; None where there is nothing to say.

    A result or an error is reported even when the lease is lost: the ledger of late results wants
    it. One that was stopped for a lost lease has nothing to tell; for a cancel or a drain it is let
    go.
    """
    match outcome:
        case Done(result):
            return Completion(task_id, token, result)
        case Raised(error):
            return Failure(task_id, token, error)
        case Crashed(error):
            return Failure(task_id, token, error, crashed=True)
        case Stopped():
            return None if stop is None or stop in ABANDONED else LetGo(task_id, token)
