"""Effects: what an attempt may do about one that an earlier attempt began, or may have done."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tasks_app.core.facts import ErrorFacts

LONGEST_EFFECT_NAME: Final = 100
"""Characters; the width of the column that holds it."""


class EffectState(StrEnum):
    """What the record knows of an effect: that somebody set about it, or that it is done."""

    STARTED = "started"
    DONE = "done"


class IfUnsure(StrEnum):
    """What to do about an effect that an earlier attempt began and whose end nobody recorded.

    RUN does it again and is right for a receiver that recognises a repetition; FAIL leaves it to a
    human.
    """

    RUN = "run"
    FAIL = "fail"


class EffectVerdict(StrEnum):
    """The answer to an attempt that is about to do an effect.

    STALE: it no longer holds the lease.
    """

    RUN = "run"
    RECORDED = "recorded"
    UNSURE = "unsure"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class EffectFacts:
    """An effect on record: its state, and the token under which it was begun last."""

    state: EffectState
    token: int


def judge_effect(found: EffectFacts | None, token: int, if_unsure: IfUnsure) -> EffectVerdict:
    """Decide what the holder of ``token`` may do.

    A start under its own token is the repetition of a call whose answer was lost: nothing was done
    in between.

    >>> judge_effect(EffectFacts(EffectState.STARTED, token=7), 8, IfUnsure.FAIL)
    <EffectVerdict.UNSURE: 'unsure'>
    >>> judge_effect(EffectFacts(EffectState.STARTED, token=8), 8, IfUnsure.FAIL)
    <EffectVerdict.RUN: 'run'>
    """
    if found is None:
        return EffectVerdict.RUN
    if found.state is EffectState.DONE:
        return EffectVerdict.RECORDED
    if found.token == token or if_unsure is IfUnsure.RUN:
        return EffectVerdict.RUN
    return EffectVerdict.UNSURE


NOT_REACHED: Final = frozenset(
    {
        # Refused, or no such host: the connection was never made.
        "ConnectionRefusedError",
        "socket.gaierror",
        # HTTP clients' own names for the same, and for a connection that was not made in time.
        "httpx.ConnectError",
        "httpx.ConnectTimeout",
        "requests.exceptions.ConnectTimeout",
        "urllib3.exceptions.NewConnectionError",
        "aiohttp.client_exceptions.ClientConnectorError",
    }
)
"""Exceptions that are raised only before a request has left; a broken connection or a read that
timed out is none, for the receiver may have acted."""

REFUSED: Final = frozenset({400, 401, 403, 404, 405, 406, 410, 411, 413, 414, 415, 422, 429})
"""HTTP statuses by which a receiver says that it did nothing. Not 408 and 409: the first may come
from a proxy that passed the request on, the second may mean that it was done before."""


def proves_undone(error: ErrorFacts) -> bool:
    """Tell whether an error that an effect raised leaves no doubt that nothing happened.

    The handler's own word counts: PermanentError and RetryableError.

    >>> proves_undone(ErrorFacts("ConnectionRefusedError", "nobody listens"))
    True
    >>> proves_undone(ErrorFacts("httpx.ReadTimeout", "no answer"))
    False
    """
    if error.permanent or error.retryable or error.status in REFUSED:
        return True
    names = (error.type, *error.bases)
    return any(name.removeprefix("builtins.") in NOT_REACHED for name in names)
