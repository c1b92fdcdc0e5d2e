"""Calls about effects that a child process sends to its worker."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tasks_app.core.attempts.effects import EffectVerdict, IfUnsure
from tasks_app.sdk.effect_pipe import (
    Asked,
    EffectAnswer,
    EffectCall,
    EffectChannel,
    PipeRecord,
    answer_call,
)
from tasks_app.sdk.effects import OwnRecord
from tasks_app.sdk.link import EffectStart, LinkDown


class FaultyRecord(OwnRecord):
    """Raises what it is told to."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def begin(self, name: str, if_unsure: IfUnsure) -> EffectStart:
        raise self._error


def piped(answer: Callable[[EffectCall], EffectAnswer]) -> PipeRecord:
    """A child's record of token 7, whose worker answers from another thread."""

    def send(message: Any) -> None:
        threading.Thread(target=lambda: channel.deliver(answer(message))).start()

    channel = EffectChannel(send)
    return PipeRecord(channel, 7)


def test_every_call_reaches_the_workers_record() -> None:
    own = OwnRecord()
    record = piped(lambda call: answer_call(call, own, 7))
    assert record.begin("send", IfUnsure.FAIL) == EffectStart(EffectVerdict.RUN)
    assert record.take_back("send") is True
    assert record.finish("send", {"id": 5}) is True
    assert record.begin("send", IfUnsure.FAIL).result == {"id": 5}


def test_a_thread_left_over_from_an_earlier_execution_speaks_for_no_lease() -> None:
    own = OwnRecord()
    record = piped(lambda call: answer_call(call, own, 8))
    assert record.begin("send", IfUnsure.RUN) == EffectStart(EffectVerdict.STALE)
    assert record.finish("send", 1) is False
    assert record.take_back("send") is False
    assert own.begin("send", IfUnsure.FAIL).verdict is EffectVerdict.RUN, "nothing was recorded"


@pytest.mark.parametrize(
    ("error", "raised", "sentence"),
    [
        (LinkDown("refused"), LinkDown, "refused"),
        (LinkDown(""), LinkDown, "^$"),
        (OSError("disk full"), RuntimeError, "OSError: disk full"),
    ],
)
def test_what_the_workers_link_raises_is_raised_in_the_child(
    error: Exception, raised: type[Exception], sentence: str
) -> None:
    record = piped(lambda call: answer_call(call, FaultyRecord(error), 7))
    with pytest.raises(raised, match=sentence):
        record.begin("send", IfUnsure.FAIL)


def test_an_answer_goes_to_whoever_asked() -> None:
    calls: list[Any] = []
    channel = EffectChannel(calls.append)
    results: dict[str, Any] = {}

    def ask(name: str) -> None:
        results[name] = channel.ask(7, Asked.BEGIN, name)

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    while len(calls) < 2:
        threads[0].join(0.01)
    for call in reversed(calls):
        channel.deliver(EffectAnswer(call.number, call.name))
    for thread in threads:
        thread.join(10)
    assert results == {"a": "a", "b": "b"}
