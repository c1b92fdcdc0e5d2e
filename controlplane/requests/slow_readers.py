"""An answer is made no faster than its reader takes it.

Daphne hands all that an application sends to the transport, whose buffer has no bound: six readers
that took nothing of an export filled the memory with it. Twisted says when its buffer is full and
when it is empty again; here the application waits in between.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

from daphne import cli, http_protocol, server
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

from controlplane.requests.large_bodies import BoundedRequest

log = logging.getLogger(__name__)

PATIENCE: Final = 300.0
"""Seconds in which a reader must have taken what was sent last; then the connection is cut."""


@implementer(IPushProducer)
class Flow:
    """Whether the transport has room for more."""

    def __init__(self) -> None:
        self._room = asyncio.Event()
        self._room.set()

    def pauseProducing(self) -> None:  # noqa: N802  # Twisted's name
        """The transport's buffer is full."""
        self._room.clear()

    def resumeProducing(self) -> None:  # noqa: N802  # Twisted's name
        """The reader has taken all of it."""
        self._room.set()

    def stopProducing(self) -> None:  # noqa: N802  # Twisted's name
        """The reader is gone: nobody waits for it."""
        self._room.set()

    async def room(self) -> bool:
        """Wait until there is room; False where the reader takes nothing."""
        try:
            await asyncio.wait_for(self._room.wait(), PATIENCE)
        except TimeoutError:
            return False
        return True


class PacedRequest(BoundedRequest):
    """A request whose answer follows the pace of its reader."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._flow: Flow | None = None

    def handle_reply(self, message: Mapping[str, Any]) -> None:
        """Hand a part of the answer over; from the first of several on the transport is heard."""
        several = message["type"] == "http.response.body" and message.get("more_body", False)
        if several and self._flow is None and not self.finished and self.channel is not None:
            self._flow = Flow()
            self.registerProducer(self._flow, True)
        super().handle_reply(message)

    def finish(self) -> None:
        """End the answer."""
        self._hear_no_more()
        super().finish()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802  # Twisted's name
        """Let go of who waits for the reader."""
        if self._flow is not None:
            self._flow.stopProducing()
        super().connectionLost(reason)

    async def room(self) -> None:
        """Wait for the reader; one that takes nothing is cut off."""
        if self._flow is not None and not self.finished and not await self._flow.room():
            log.warning("a reader took nothing for %.0f s and was cut off", PATIENCE)
            if self.channel is not None:
                self.channel.transport.abortConnection()

    def _hear_no_more(self) -> None:
        if self._flow is not None and self.producer is not None and self.channel is not None:
            self.unregisterProducer()


class PacedServer(server.Server):  # type: ignore[misc]  # daphne has no types
    """A server whose applications wait for their readers."""

    async def handle_reply(self, protocol: Any, message: Mapping[str, Any]) -> None:
        """Send a message, and come back once there is room for the next."""
        await super().handle_reply(protocol, message)
        if isinstance(protocol, PacedRequest):
            await protocol.room()


def pace() -> None:
    """Have daphne use these classes; it looks the request's up at each connection."""
    http_protocol.WebRequest = PacedRequest
    cli.CommandLineInterface.server_class = PacedServer
