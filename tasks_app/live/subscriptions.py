"""What one websocket still has to get: a few messages at the most, the newest ones."""

import asyncio
import json
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

BACKLOG: Final = 4
"""Messages, so seconds, that a slow reader may be behind; older ones are dropped."""


class Subscription:
    """A bounded queue between the feed's thread and one socket's event loop.

    A reader that falls behind loses samples, never memory: it is told so by ``missed``, and
    fetches the record again.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._messages: deque[Mapping[str, Any]] = deque(maxlen=BACKLOG)
        self._filled = asyncio.Event()
        self._missed = False

    def offer(self, message: Mapping[str, Any]) -> None:
        """Hand a message over from any thread; never waits."""
        try:
            self._loop.call_soon_threadsafe(self._put, message)
        except RuntimeError:
            # A loop that was closed, maybe at this moment, has no reader any more; its socket is
            # being unsubscribed.
            if not self._loop.is_closed():
                raise

    def _put(self, message: Mapping[str, Any]) -> None:
        self._missed = self._missed or len(self._messages) == BACKLOG
        self._messages.append(message)
        self._filled.set()

    async def next(self) -> str:
        """Wait for the oldest message that is kept; as JSON text."""
        await self._filled.wait()
        message = dict(self._messages.popleft())
        if self._missed:
            message["missed"], self._missed = True, False
        if not self._messages:
            self._filled.clear()
        return json.dumps(message, separators=(",", ":"))
