"""Effects of a handler in a child process: asked over the pipe, answered by its worker's link."""

import itertools
import queue
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tasks_app.core.attempts.effects import EffectVerdict, IfUnsure
from tasks_app.sdk.effects import EffectRecord
from tasks_app.sdk.link import EffectStart, LinkDown
from tasks_app.sdk.outcomes.errors import describe


class Asked(StrEnum):
    """The calls of ``EffectRecord``."""

    BEGIN = "begin"
    FINISH = "finish"
    TAKE_BACK = "take_back"


@dataclass(frozen=True, slots=True)
class EffectCall:
    """A question of the execution of ``token``; ``value`` is the policy or the result."""

    number: int
    token: int
    asked: Asked
    name: str
    value: Any = None


@dataclass(frozen=True, slots=True)
class EffectAnswer:
    """The answer to a call; ``down`` when the link was, ``fault`` for any other exception."""

    number: int
    value: Any = None
    down: str | None = None
    fault: str | None = None


class EffectChannel:
    """The child's side: sends calls, and hands each answer to the thread that waits for it."""

    def __init__(self, send: Callable[[object], None]) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._waiting: dict[int, queue.SimpleQueue[EffectAnswer]] = {}

    def ask(self, token: int, asked: Asked, name: str, value: Any = None) -> Any:
        """Return the worker's answer; raises LinkDown, or RuntimeError for what its link raised.

        It always comes: a worker that ends takes its children with it.
        """
        number = next(self._numbers)
        box = self._waiting[number] = queue.SimpleQueue()
        self._send(EffectCall(number, token, asked, name, value))
        answer = box.get()
        if answer.down is not None:
            raise LinkDown(answer.down)
        if answer.fault is not None:
            raise RuntimeError(answer.fault)
        return answer.value

    def deliver(self, answer: EffectAnswer) -> None:
        """Wake whoever asked."""
        self._waiting.pop(answer.number).put(answer)


class PipeRecord:
    """The record of one execution, seen from its child process."""

    def __init__(self, channel: EffectChannel, token: int) -> None:
        self._channel = channel
        self._token = token

    def begin(self, name: str, if_unsure: IfUnsure) -> EffectStart:
        """Ask the worker."""
        begun: EffectStart = self._channel.ask(self._token, Asked.BEGIN, name, if_unsure)
        return begun

    def finish(self, name: str, result: Any) -> bool:
        """Tell the worker."""
        return bool(self._channel.ask(self._token, Asked.FINISH, name, result))

    def take_back(self, name: str) -> bool:
        """Tell the worker."""
        return bool(self._channel.ask(self._token, Asked.TAKE_BACK, name))


def answer_call(call: EffectCall, record: EffectRecord, token: int) -> EffectAnswer:
    """The worker's side: pass a call of the execution of ``token`` on to its record."""
    if call.token != token:
        # A thread that an earlier handler left behind speaks for a lease that has ended.
        stale = EffectStart(EffectVerdict.STALE) if call.asked is Asked.BEGIN else False
        return EffectAnswer(call.number, stale)
    try:
        return EffectAnswer(call.number, _passed_on(call, record))
    except LinkDown as error:
        return EffectAnswer(call.number, down=str(error))
    except Exception as error:  # noqa: BLE001  raised again in the child, which waits for an answer
        facts = describe(error)
        return EffectAnswer(call.number, fault=f"{facts.type}: {facts.message}")


def _passed_on(call: EffectCall, record: EffectRecord) -> EffectStart | bool:
    match call.asked:
        case Asked.BEGIN:
            return record.begin(call.name, call.value)
        case Asked.FINISH:
            return record.finish(call.name, call.value)
        case Asked.TAKE_BACK:
            return record.take_back(call.name)
