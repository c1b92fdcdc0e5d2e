"""The Redis transport of kombu, for which a broker that flaps is a lost connection and no fault.

kombu 5.7 takes the address of a new connection from the old one, which may have been closed by
then: an AttributeError about ``hostname``, which ends a Celery worker as "unrecoverable".
"""

from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis


class Channel(redis.Channel):
    """Says of a connection that was closed under it that it was lost."""

    # kombu has no types
    def _connparams(self, asynchronous: bool = False) -> Any:
        if self.connection is None or self.connection.client is None:
            raise ConnectionError("the connection to the broker was closed meanwhile")
        return super()._connparams(asynchronous=asynchronous)  # type: ignore[no-untyped-call]


class Transport(redis.Transport):
    """``redis://`` and ``rediss://`` with such a channel."""

    Channel = Channel


def use() -> None:
    """Have these addresses mean this transport from now on."""
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = f"{__name__}:Transport"
