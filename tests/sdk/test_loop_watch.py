"""The log names the handler that holds the event loop, and where it is."""

import asyncio
import logging
import queue
import time
from collections.abc import Iterator

import pytest

from tasks_app.sdk.loop_thread import LoopThread
from tasks_app.sdk.outcomes.outcomes import Outcome, Stopped
from tests.waiting import wait_for


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    """A loop that ends with the test."""
    made = LoopThread()
    made.start()
    yield made
    made.close()


def test_who_holds_the_loop_is_named_with_the_line(
    loop: LoopThread, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    ended: queue.SimpleQueue[Outcome] = queue.SimpleQueue()

    def said(text: str) -> bool:
        return any(text in each.getMessage() for each in caplog.records)

    async def holds_it() -> Outcome:
        while not said("holds the event loop"):
            time.sleep(0.01)
        return Stopped()

    async def waits() -> Outcome:
        await asyncio.sleep(0)
        return Stopped()

    loop.submit(1, "resize (task 7)", holds_it, ended.put)
    loop.submit(2, "mail (task 8)", waits, ended.put)
    for _ in range(2):
        ended.get(timeout=60)
    (told,) = [e.getMessage() for e in caplog.records if "holds the event loop" in e.getMessage()]
    assert told.startswith("resize (task 7) holds the event loop, at ")
    assert "test_loop_watch.py:" in told
    assert "in holds_it" in told or "in said" in told or "logging" in told
    wait_for(lambda: said("the event loop goes on"), "the log to say that it goes on")


def test_a_loop_whose_handlers_await_is_not_told_of(
    loop: LoopThread, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    watch = loop._watch
    ask = watch._ask
    monkeypatch.setattr("tasks_app.sdk.loop_watch.HELD_SECONDS", 60.0)

    def counted() -> None:
        ask()
        asked.append(True)

    monkeypatch.setattr(watch, "_ask", counted)
    ended: queue.SimpleQueue[Outcome] = queue.SimpleQueue()

    async def awaits() -> Outcome:
        while len(asked) < 2:
            await asyncio.sleep(0.01)
        return Stopped()

    loop.submit(1, "mail (task 8)", awaits, ended.put)
    ended.get(timeout=60)
    assert caplog.records == []
