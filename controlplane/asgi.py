"""The ASGI entry point: HTTP by Django, websockets of the live screens by Channels."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.db import close_old_connections
from django.http.request import split_domain_port, validate_host

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
# Under ASGI a request has no thread of its own that could keep a connection: the pool keeps them.
os.environ.setdefault("DATABASE_POOL", "true")

_http = get_asgi_application()

from controlplane.requests.malformed import storable_cookies  # noqa: E402  # needs the apps loaded
from controlplane.requests.origins import SameOrigin  # noqa: E402  # the same
from controlplane.requests.slow_readers import pace  # noqa: E402  # the same
from controlplane.requests.sub_path import UnderSubPath  # noqa: E402  # the same
from tasks_app.live.alert_thread import start_watching  # noqa: E402  # the same
from tasks_app.live.routing import websocket_urlpatterns  # noqa: E402  # the same

_under_way: Final[set[asyncio.Task[None]]] = set()


class TidyExecutor(ThreadPoolExecutor):
    """Threads that give their connection back after each call.

    Django makes the pages of errors (404, 403) outside the request's own thread, and nobody would
    close what they opened there: each such thread would keep a connection of the pool for good.
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Run it as any executor does, and close behind it."""
        return super().submit(_tidied, fn, *args, **kwargs)


def _tidied(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return fn(*args, **kwargs)
    finally:
        close_old_connections()


_beside: Final = TidyExecutor(thread_name_prefix="beside")


async def http(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[Mapping[str, Any]]],
    send: Callable[[Mapping[str, Any]], Awaitable[None]],
) -> None:
    """Answer a request and see it to its end, whatever the server thinks of it meanwhile.

    Daphne cancels a request that still runs 10 s after its client left, and Django, cancelled so,
    never gives the request's connection back: ten such requests and the pool is empty for good.
    """
    asyncio.get_running_loop().set_default_executor(_beside)
    task = asyncio.ensure_future(_http(scope, receive, send))
    _under_way.add(task)
    task.add_done_callback(_under_way.discard)
    await asyncio.shield(task)


class AllowedHosts:
    """Refuses a websocket under a strange host name, or with unstorable cookies, with 403."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._denier = WebsocketDenier.as_asgi()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the connection on, or deny it."""
        named = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        host, _ = split_domain_port(named)
        allowed = bool(host) and validate_host(host, settings.ALLOWED_HOSTS)
        allowed = allowed and storable_cookies(scope)
        await (self._inner if allowed else self._denier)(scope, receive, send)


application: Any = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHosts(
            SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))
        ),
    }
)

if settings.SUB_PATH:
    application = UnderSubPath(application, settings.SUB_PATH)

pace()
start_watching()
