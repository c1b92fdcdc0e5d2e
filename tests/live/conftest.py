"""Websockets without a server: the consumer itself, on the real record."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.db import connections
from django.test import Client

from controlplane.asgi import application
from tasks_app.live.feed import THREAD
from tests.floor import Floor
from tests.waiting import wait_for


@pytest.fixture
def floor(record: None) -> Iterator[Floor]:
    """A floor; the feed has let go of the database when the test is over."""
    yield Floor()
    wait_for(lambda: not feed_runs(), "the feed to end")


def feed_runs() -> bool:
    """Whether the feed's thread lives, and with it its connections."""
    return any(thread.name == THREAD for thread in threading.enumerate())


@asynccontextmanager
async def socket(client: Client, path: str = "/ws/live/") -> AsyncIterator[WebsocketCommunicator]:
    """A page's websocket with the cookies of a client."""
    cookies = "; ".join(f"{name}={each.value}" for name, each in client.cookies.items())
    headers = [
        (b"cookie", cookies.encode()),
        (b"origin", b"http://localhost"),
        (b"host", b"localhost"),
    ]
    communicator = WebsocketCommunicator(application, path, headers)
    connected, _ = await communicator.connect(timeout=10)
    assert connected
    yield communicator
    await communicator.disconnect(timeout=10)


async def hear(communicator: WebsocketCommunicator) -> dict[str, Any]:
    """The next message, as the page gets it; the page's word is sent as well."""
    message: dict[str, Any] = json.loads(await communicator.receive_from(timeout=10))
    await communicator.send_to(text_data="ok")
    return message


async def hear_until(
    communicator: WebsocketCommunicator, wanted: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """The first message that is wanted."""
    for _ in range(40):
        message = await hear(communicator)
        if wanted(message):
            return message
    raise AssertionError("forty messages, and none was wanted")


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario to its end in a loop of its own."""

    async def whole() -> None:
        await asyncio.wait_for(scenario(), 60)
        # The thread in which Django's synchronous parts run outlives the loop.
        await sync_to_async(connections.close_all)()

    asyncio.run(whole())
