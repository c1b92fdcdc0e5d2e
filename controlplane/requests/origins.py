"""Which page may open a websocket: one of this very origin, by scheme, host and port."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings

from controlplane.requests.proxies import is_trusted

USUAL: Final = {"http": 80, "https": 443}


class SameOrigin:
    """Refuses a websocket of any other origin with 403, as the check of a form's origin does."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._denier = WebsocketDenier.as_asgi()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the connection on, or deny it."""
        await (self._inner if _same(scope) else self._denier)(scope, receive, send)


def _same(scope: Any) -> bool:
    told, hosts = _header(scope, b"origin"), _header(scope, b"host")
    if len(told) != 1 or len(hosts) != 1:
        return False
    own = f"{'https' if _over_tls(scope) else 'http'}://{hosts[0]}"
    found = origin(told[0])
    return found is not None and found in {origin(own), *map(origin, settings.CSRF_TRUSTED_ORIGINS)}


def origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an origin; None for what is not one.

    >>> origin("https://Desk.example.org") == origin("https://desk.example.org:443")
    True
    >>> origin("https://desk.example.org/path"), origin("null")
    (None, None)
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in USUAL or not parts.hostname or "@" in parts.netloc:
        return None
    if parts.path or parts.query or parts.fragment:
        return None
    return parts.scheme, parts.hostname, port or USUAL[parts.scheme]


def _header(scope: Any, name: bytes) -> Sequence[str]:
    return [value.decode("latin-1") for each, value in scope["headers"] if each == name]


def _over_tls(scope: Any) -> bool:
    """By the proxy's word where one is believed, as for pages; else by the connection itself."""
    named = getattr(settings, "SECURE_PROXY_SSL_HEADER", None)
    if named is not None and _believed(scope):
        header = named[0].removeprefix("HTTP_").replace("_", "-").lower().encode()
        for told in _header(scope, header):
            return told.partition(",")[0].strip() == str(named[1])
    return str(scope.get("scheme")) == "wss"


def _believed(scope: Any) -> bool:
    trusted = settings.TRUSTED_PROXIES
    return not trusted or is_trusted((scope.get("client") or ("",))[0], trusted)
