"""The site under a path of a host that has others too, such as ``/chargehand``."""

from collections.abc import Awaitable, Callable
from typing import Any

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


class UnderSubPath:
    """Has each request carry the whole path, whether the proxy passed it on or took it off.

    Django makes redirects and links from the path that it sees, and a websocket's router refuses
    one that lacks the prefix. Probes ask the process itself, without it.
    """

    def __init__(self, inner: Application, prefix: str) -> None:
        self._inner = inner
        self._prefix = prefix

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Pass the request or websocket on."""
        path = scope.get("path")
        if path is not None:
            whole = path == self._prefix or path.startswith(f"{self._prefix}/")
            path = path if whole else f"{self._prefix}{path}"
            scope = {**scope, "path": path, "root_path": self._prefix}
        await self._inner(scope, receive, send)


def within(path: str, prefix: str) -> str:
    """A path of the site as it is without the prefix.

    >>> within("/chargehand/api/v1", "/chargehand"), within("/api/v1", "/chargehand")
    ('/api/v1', '/api/v1')
    """
    return path.removeprefix(prefix) if path.startswith(f"{prefix}/") else path
