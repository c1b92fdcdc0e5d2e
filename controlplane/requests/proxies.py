"""Whose request it is, where proxies stand between: one answer for lock-out, limits and audit."""

import logging
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest
from django.http.response import HttpResponseBase

log = logging.getLogger(__name__)

SOCKET = ""
"""Who asks over a Unix socket has no address. Its folder's rights say who may: the proxy alone."""

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address


class TrustedProxies:
    """Sets ``REMOTE_ADDR`` to the address that the nearest trusted proxy was asked from.

    ``TRUSTED_PROXIES`` names the networks of the proxies; without any, the headers mean nothing.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response
        self._trusted: Sequence[Network] = settings.TRUSTED_PROXIES
        self._told = False
        if not self._trusted:
            raise MiddlewareNotUsed

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request as one from its true address."""
        meta = request.META
        peer, forwarded = meta.get("REMOTE_ADDR", SOCKET), meta.get("HTTP_X_FORWARDED_FOR", "")
        if not is_trusted(peer, self._trusted):
            # Whoever reaches this process past the proxy could claim a secure connection too.
            claimed = meta.pop("HTTP_X_FORWARDED_PROTO", None)
            self._tell_once(peer, claimed)
        meta["REMOTE_ADDR"] = client_address(peer, forwarded, self._trusted)
        return self._get_response(request)

    def _tell_once(self, peer: str, claimed: str | None) -> None:
        """Say what leads to redirects without end where the peer is a proxy that is not named."""
        if claimed is None or self._told:
            return
        self._told = True
        log.warning(
            "X-Forwarded-Proto from %s is ignored: TRUSTED_PROXIES does not name that address", peer
        )


def client_address(peer: str, forwarded: str, trusted: Sequence[Network]) -> str:
    """The address nearest to this process that no trusted proxy has; ``forwarded`` is the header.

    Read from its end: what a client wrote into the header itself stands before what proxies add.

    >>> from ipaddress import ip_network
    >>> proxies = [ip_network("10.0.0.0/8")]
    >>> client_address("10.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.2", proxies)
    '203.0.113.9'
    >>> client_address("203.0.113.9", "6.6.6.6", proxies)
    '203.0.113.9'
    """
    address = peer
    for hop in reversed(forwarded.split(",")):
        found = _read(hop)
        if found is None or not is_trusted(address, trusted):
            break
        address = str(found)
    return address


def is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    """Whether an address is a proxy's, or it is a Unix socket on which only the proxy can ask."""
    found = _read(address)
    return address == SOCKET or (found is not None and any(found in network for network in trusted))


def _read(text: str) -> Address | None:
    """An address, with or without a port; one of IPv4 that is written as IPv6 is one of IPv4."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
