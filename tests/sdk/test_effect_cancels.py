"""An attempt that is cancelled around an effect leaves no doubt that need not be."""

import asyncio
import threading
from typing import Any
from uuid import uuid4

import pytest

from tasks_app.core.attempts.effects import IfUnsure
from tasks_app.sdk.context import Cancelled, Context
from tasks_app.sdk.effects import OwnRecord
from tasks_app.sdk.link import EffectStart

NAME = "send-reply"


class SlowRecord(OwnRecord):
    """Answers the call named ``slow`` once it may; ``log`` are the calls that took effect."""

    def __init__(self, slow: str) -> None:
        super().__init__()
        self.slow = slow
        self.asked = threading.Event()
        self.may_answer = threading.Event()
        self.log: list[str] = []

    def _wait(self, call: str) -> None:
        if call == self.slow:
            self.asked.set()
            assert self.may_answer.wait(10)
        self.log.append(call)

    def begin(self, name: str, if_unsure: IfUnsure) -> EffectStart:
        self._wait("begin")
        return super().begin(name, if_unsure)

    def finish(self, name: str, result: Any) -> bool:
        self._wait("finish")
        return super().finish(name, result)

    def take_back(self, name: str) -> bool:
        self._wait("take back")
        return super().take_back(name)


async def _send() -> str:
    return "sent"


async def _cancel_during(record: SlowRecord, ctx: Context, *, told: bool) -> None:
    """Cancel the effect while its record is slow to answer; ``told`` as the worker does it."""
    effect = asyncio.create_task(ctx.once_async(NAME, _send))
    assert await asyncio.to_thread(record.asked.wait, 10)
    if told:
        ctx.cancel()
    effect.cancel()
    await asyncio.sleep(0)
    assert not effect.done(), "its attempt must not be reported before the record is true"
    record.may_answer.set()
    with pytest.raises((Cancelled, asyncio.CancelledError)):
        await effect


@pytest.mark.parametrize("told", [True, False], ids=["by the worker", "by the handler's timeout"])
def test_a_start_that_is_cancelled_before_the_call_is_taken_back(told: bool) -> None:
    record = SlowRecord("begin")
    asyncio.run(_cancel_during(record, Context(uuid4(), record=record), told=told))
    assert record.log == ["begin", "take back"]


@pytest.mark.parametrize("told", [True, False], ids=["by the worker", "by the handler's timeout"])
def test_an_effect_that_is_cancelled_after_the_call_is_recorded_first(told: bool) -> None:
    record = SlowRecord("finish")
    ctx = Context(uuid4(), record=record)
    asyncio.run(_cancel_during(record, ctx, told=told))
    assert record.log == ["begin", "finish"]


def test_an_effect_that_is_cancelled_in_its_middle_stays_in_doubt() -> None:
    record = SlowRecord("")
    ctx = Context(uuid4(), record=record)

    async def cancelled_while_it_sends() -> None:
        sending = asyncio.Event()

        async def send() -> None:
            sending.set()
            await asyncio.sleep(60)

        effect = asyncio.create_task(ctx.once_async(NAME, send))
        await sending.wait()
        effect.cancel()
        with pytest.raises(asyncio.CancelledError):
            await effect

    asyncio.run(cancelled_while_it_sends())
    assert record.log == ["begin"]


def test_a_plain_attempt_that_is_cancelled_while_it_begins_does_not_call() -> None:
    record = SlowRecord("begin")
    ctx = Context(uuid4(), record=record)
    raised: list[BaseException] = []

    def attempt() -> None:
        try:
            ctx.once(NAME, lambda: pytest.fail("called"))
        except Cancelled as error:
            raised.append(error)

    thread = threading.Thread(target=attempt)
    thread.start()
    assert record.asked.wait(10)
    ctx.cancel()
    record.may_answer.set()
    thread.join(10)
    assert raised
    assert record.log == ["begin", "take back"]
