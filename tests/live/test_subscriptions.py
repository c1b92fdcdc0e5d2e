"""What a slow reader gets: the newest few messages, and the word that some are missing."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks_app.live.subscriptions import BACKLOG, Subscription


@settings(deadline=None)
@given(bursts=st.lists(st.integers(min_value=1, max_value=3 * BACKLOG), min_size=1, max_size=8))
def test_a_reader_gets_the_newest_in_order_and_knows_of_every_loss(bursts: list[int]) -> None:
    async def scenario() -> None:
        subscription = Subscription(asyncio.get_running_loop())
        told = 0
        for burst in bursts:
            for _ in range(burst):
                told += 1
                subscription.offer({"n": told})
            await asyncio.sleep(0)  # the loop takes what was offered
            kept = min(burst, BACKLOG)
            heard = [json.loads(await subscription.next()) for _ in range(kept)]
            assert [message["n"] for message in heard] == list(range(told - kept + 1, told + 1))
            assert heard[0].get("missed", False) is (burst > BACKLOG)
            assert all("missed" not in message for message in heard[1:])

    asyncio.run(scenario())


def test_a_reader_waits_for_a_message_from_another_thread() -> None:
    async def scenario() -> None:
        subscription = Subscription(asyncio.get_running_loop())
        heard = asyncio.create_task(subscription.next())
        await asyncio.to_thread(subscription.offer, {"n": 1})
        assert json.loads(await asyncio.wait_for(heard, 5)) == {"n": 1}

    asyncio.run(scenario())


def test_a_loop_that_is_closed_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.new_event_loop()
    subscription = Subscription(loop)

    def closed_meanwhile(*_: Any) -> None:
        loop.close()
        raise RuntimeError("Event loop is closed")

    with monkeypatch.context() as patched:
        patched.setattr(loop, "call_soon_threadsafe", closed_meanwhile)
        subscription.offer({"n": 1})
    subscription.offer({"n": 2})
    assert loop.is_closed()
