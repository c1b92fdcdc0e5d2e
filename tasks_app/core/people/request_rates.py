"""How often somebody may ask: a number of requests in a time, read from a setting's word."""

import re
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final

UNITS: Final = {"s": (1, "second"), "min": (60, "minute"), "h": (3600, "hour")}
_RATE: Final = re.compile(r"([0-9]{1,9})/(s|min|h)")

LONGEST_SUBJECT: Final = 100

Network = IPv4Network | IPv6Network
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Rate:
    """So many requests in so many seconds; those of a whole time may come at once."""

    count: int
    seconds: float

    def __str__(self) -> str:
        """As an error names it.

        >>> str(Rate(6000, 60)), str(Rate(1, 1)), str(Rate(5, 900))
        ('6,000 requests a minute', '1 request a second', '5 requests in 900 s')
        """
        named = f"{self.count:,} request{'' if self.count == 1 else 's'}"
        for seconds, unit in UNITS.values():
            if seconds == self.seconds:
                return f"{named} {'an' if unit == 'hour' else 'a'} {unit}"
        return f"{named} in {self.seconds:g} s"


def read_rate(text: str) -> Rate | None:
    """Read ``600/min``, ``20/s`` or ``1000/h``; ``off`` is None. Raises ValueError for the rest.

    >>> read_rate("600/min")
    Rate(count=600, seconds=60)
    >>> read_rate("off")
    """
    if text == "off":
        return None
    found = _RATE.fullmatch(text)
    if found is None or int(found[1]) == 0:
        raise ValueError(text)
    return Rate(int(found[1]), UNITS[found[2]][0])


def counted_address(address: str) -> str:
    """An address as requests from it are counted: of IPv6 its network, which one visitor has whole.

    >>> counted_address("203.0.113.9"), counted_address("2001:db8::7"), counted_address("")
    ('203.0.113.9', '2001:db8::/64', 'unknown')
    """
    network = counted_network(address)
    if network is None:
        return address[:64] or "unknown"
    return str(network.network_address if network.version == 4 else network)


def counted_network(address: str) -> Network | None:
    """The network that every counter counts an address by; None for what is not an address.

    An IPv4 address has one notation here, so that nobody is counted apart under another one.

    >>> counted_network("::ffff:203.0.113.9"), counted_network("2002:cb00:7109::1")
    (IPv4Network('203.0.113.9/32'), IPv4Network('203.0.113.9/32'))
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or found.sixtofour or _translated(found) or found
    return ip_network((found, 64 if isinstance(found, IPv6Address) else 32), strict=False)


def _translated(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that a translator (RFC 6052) wrote as one of IPv6."""
    return IPv4Address(address.packed[12:]) if address in _TRANSLATED else None
