"""Where a webhook may lead, and how its body is signed."""

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from tasks_app.core.drawing.visible import visible
from tasks_app.core.masking.redaction import secrets_in, without
from tasks_app.core.words import say

Address = IPv4Address | IPv6Address

SIGNATURE: Final = "X-Chargehand-Signature"
LEAST_SECRET: Final = 16

LONGEST_ANSWER: Final = 200
"""Characters that are kept of what a receiver answered."""

LONG_PIECE: Final = 12
"""Characters of a part of a path that is a token rather than a word."""

NAT64: Final = IPv6Network("64:ff9b::/96")
WITHIN: Final[tuple[IPv4Network | IPv6Network, ...]] = tuple(
    ip_network(each)
    for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
METADATA: Final = frozenset(
    map(ip_address, ("fd00:ec2::254", "100.100.100.200", "192.0.0.192")),
)
"""Where clouds hand out credentials, within what else may be allowed."""

UNICAST: Final = IPv6Network("2000::/3")
"""All that IPv6 has of public addresses: what lies outside may be somebody's within, as the network
of a translator (RFC 8215) or IPv4 in an old spelling is."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a setting allows beside public addresses: networks of one's own; this machine."""

    private: bool = False
    loopback: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """A webhook's address in its parts; ``path`` has the query."""

    tls: bool
    host: str
    port: int
    path: str


def target_of(url: str, reach: Reach) -> Target:
    """Take an address apart. Raises ValueError with the reason for one that is not allowed."""
    if not url.isascii() or any(each.isspace() or not each.isprintable() for each in url):
        raise ValueError(say("write it in ASCII, without spaces"))
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError(say("is no address of a web server")) from None
    if not parts.hostname or parts.scheme not in ("https", "http"):
        raise ValueError(say("write it as https://host/path"))
    if parts.username is not None or parts.password is not None:
        raise ValueError(say("must not hold a user or password"))
    tls = parts.scheme == "https"
    if not tls and not (reach.loopback and parts.hostname in ("localhost", "127.0.0.1", "::1")):
        raise ValueError(say("must begin with https://"))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(tls, parts.hostname, port or (443 if tls else 80), path)


def refused(address: str, reach: Reach) -> bool:
    """Whether a resolved IP address must not be called.

    >>> [refused(each, Reach()) for each in ("1.1.1.1", "10.0.0.1", "127.0.0.1", "::ffff:10.0.0.1")]
    [False, True, True, True]
    >>> refused("10.0.0.1", Reach(private=True)), refused("169.254.169.254", Reach(private=True))
    (False, True)
    """
    ip = _unwrapped(ip_address(address.partition("%")[0]))
    if ip in METADATA:
        return True
    if ip.is_loopback:
        return not reach.loopback
    if any(ip in network for network in WITHIN if network.version == ip.version):
        return not reach.private
    if isinstance(ip, IPv6Address) and ip not in UNICAST:
        return True
    return not ip.is_global or ip.is_multicast


def _unwrapped(ip: Address) -> Address:
    """The IPv4 address that a translator would call in its stead."""
    if isinstance(ip, IPv4Address):
        return ip
    if ip in NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None) or ip


def callable_addresses(addresses: Iterable[str], reach: Reach) -> list[str]:
    """The addresses to try in turn, of those that a name stands for: none may be refused.

    Raises ValueError.

    >>> callable_addresses(["1.1.1.1", "2606:4700::1111", "1.1.1.1"], Reach())
    ['1.1.1.1', '2606:4700::1111']
    """
    found = list(dict.fromkeys(addresses))
    bad = next((each for each in found if refused(each, reach)), None)
    if bad is not None:
        raise ValueError(say("%(bad)s is not a public address", bad=bad))
    if not found:
        raise ValueError(say("its host has no address"))
    return found


def first_line(answer: str, secrets: Iterable[str], *, cut: bool = False) -> str:
    """The first line of an answer that says something, without secrets, bounded.

    ``cut``: the answer was longer than what was read of it.

    >>> first_line("{\\n  no such hook: T0KEN1\\n}", ["T0KEN1"])
    'no such hook: [redacted]'
    """
    lines = (" ".join(line.split()) for line in answer.splitlines())
    line = next((each for each in lines if any(map(str.isalnum, each))), "")
    held = frozenset(spelt for each in secrets for spelt in secrets_in({"": each}, frozenset({""})))
    if cut and held:
        # What was read may end in the middle of a secret.
        line = line[: max(0, len(line) - max(map(len, held)))]
    return _bounded(visible(without(line, held)))


def _bounded(text: str) -> str:
    return (
        text
        if len(text) <= LONGEST_ANSWER
        else text[: LONGEST_ANSWER - 1] + "\N{HORIZONTAL ELLIPSIS}"
    )


def secrets_of(url: str) -> Iterator[str]:
    """What of a webhook's address may be as good as a password: all but names that anybody knows.

    >>> sorted(secrets_of("https://a.example/hooks/T0KEN?key=abcd"))
    ['/hooks/T0KEN?key=abcd', 'T0KEN', 'abcd']
    """
    parts = urlsplit(url)
    yield parts.path + (f"?{parts.query}" if parts.query else "")
    for piece in parts.path.split("/"):
        if len(piece) >= LONG_PIECE or any(map(str.isdigit, piece)):
            yield from {piece, unquote(piece)}
    for _, value in parse_qsl(parts.query):
        yield value


def signature(secret: str, at: int, body: bytes) -> str:
    """The header's value: when it was signed, and the HMAC-SHA256 of ``<at>.<body>`` in hex.

    >>> signature("s" * 16, 1, b"{}")[:16]
    't=1,v1=ba3a899b9'
    """
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={digest.hexdigest()}"
