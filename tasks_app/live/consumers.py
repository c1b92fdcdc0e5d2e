"""One websocket of a page that is open somewhere."""

import asyncio
import contextlib
import logging
from importlib import import_module
from typing import Final

from channels.auth import get_user
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import Error

from tasks_app.live.feed import feed
from tasks_app.live.subscriptions import Subscription
from tasks_app.services.people.turns import Turns

log = logging.getLogger(__name__)

SIGNED_OUT: Final = 4401
"""The close code that sends a page to the log-in; 4000 and above are the application's own."""

TOO_MANY: Final = 4429
"""The close code for one websocket more than a person may have; the page tries again later."""

sockets: Final = Turns(20)
"""Websockets that one person may have open in one process: each costs memory and its checks."""

AHEAD: Final = 4
"""Messages sent ahead of the page's word that it got them. The server's own buffer has no bound."""

RECHECK_SECONDS: Final = 30.0
"""A session that ended elsewhere, or a user no longer active, is noticed within it."""


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """Sends what the feed tells, as fast as the page takes it."""

    async def connect(self) -> None:
        """Accept, so that the close code reaches the page; then refuse who is not logged in."""
        await self.accept()
        self._subscription: Subscription | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._person = ""
        if not self.scope["user"].is_authenticated:
            await self.close(code=SIGNED_OUT)
            return
        person = f"person {self.scope['user'].pk}"
        if not sockets.take(person):
            await self.close(code=TOO_MANY)
            return
        self._person = person
        self._credit = asyncio.Semaphore(AHEAD)
        self._ahead = 0
        self._subscription = Subscription(asyncio.get_running_loop())
        feed.subscribe(self._subscription)
        self._tasks = [
            asyncio.create_task(self._pump(self._subscription)),
            asyncio.create_task(self._recheck()),
        ]

    async def disconnect(self, code: int) -> None:
        """Forget the page."""
        if self._person:
            sockets.give(self._person)
        if self._subscription is not None:
            feed.unsubscribe(self._subscription)
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take any message as the page's word that it got one; what it says is not read."""
        if self._ahead > 0:
            self._ahead -= 1
            self._credit.release()

    async def _pump(self, subscription: Subscription) -> None:
        while True:
            # Credit first: while there is none, the subscription drops what gets old.
            await self._credit.acquire()
            self._ahead += 1
            await self.send(text_data=await subscription.next())

    async def _recheck(self) -> None:
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            try:
                logged_in = await _still_logged_in(self.scope["session"].session_key)
            except Error as error:
                log.warning("a session could not be checked: %s", str(error).strip())
                continue
            if not logged_in:
                await self.close(code=SIGNED_OUT)
                return


async def _still_logged_in(session_key: str) -> bool:
    """Read session and user anew: the connection's own were loaded when it began."""
    fresh = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user = await get_user({"session": fresh})
    return bool(user.is_authenticated)
