"""Networks that a test may cut: a relay of its own, and, as root, a network namespace.

Both lie between one process and the server, and both cut without a word: nothing is refused and no
connection ends, so that either side takes the other for slow. What was on its way when the
network was cut arrives when it is healed.
"""

import os
import selectors
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import unquote, urlsplit

CHUNK: Final = 65536
LOOK_SECONDS: Final = 0.02
HOST_SIDE, FAR_SIDE = "10.213.77.1", "10.213.77.2"
NOWHERE: Final = "02:00:00:00:00:01"
"""A link address that nobody has: what is sent to it is lost, and the sender does not learn it."""


class Way(StrEnum):
    """A direction, as the process behind the network sees it."""

    OUT = "out"
    BACK = "back"


BOTH: Final = (Way.OUT, Way.BACK)


class Network(Protocol):
    """What lies between a process and the server."""

    @property
    def url(self) -> str:
        """The address of the database behind it."""
        ...

    @property
    def prefix(self) -> Sequence[str]:
        """What stands before the command of a process behind it."""
        ...

    def cut(self, *ways: Way) -> None:
        """Let nothing through, that way or those ways."""
        ...

    def heal(self) -> None:
        """Let everything through."""
        ...


@dataclass
class Relay:
    """Carries connections from a TCP port to the server's Unix socket.

    ``delay`` in seconds is what each piece takes, each way.
    """

    url: str
    address: str = "127.0.0.1"
    prefix: Sequence[str] = ()
    delay: float = 0.0
    _closed: set[Way] = field(default_factory=set)
    _over: bool = False

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        # libpq names the socket after the port that it would use.
        self._server = f"{unquote(parts.hostname or '')}/.s.PGSQL.5432"
        self._listening = socket.create_server((self.address, 0))
        port = self._listening.getsockname()[1]
        self.url = f"{parts.scheme}://{parts.username}@{self.address}:{port}{parts.path}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, *ways: Way) -> None:
        """Hold what comes that way; a new connection gets no answer."""
        self._closed = set(ways)

    def heal(self) -> None:
        """Let what was held go on."""
        self._closed = set()

    def close(self) -> None:
        """End; the connections end with it."""
        self._over = True
        self._listening.close()

    def _accept(self) -> None:
        while not self._over:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self._server)
            # Each thread has ends of its own, which nobody else closes.
            with near, far:
                for ends in ((near, far, Way.OUT), (far, near, Way.BACK)):
                    source, target, way = ends
                    own = (source.dup(), target.dup(), way)
                    threading.Thread(target=self._carry, args=own, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, way: Way) -> None:
        """Carry one way until either end is gone, and end both."""
        with source, target, selectors.DefaultSelector() as ready:
            ready.register(source, selectors.EVENT_READ)
            while not self._over:
                if way in self._closed:
                    time.sleep(LOOK_SECONDS)
                elif ready.select(LOOK_SECONDS) and not self._pass_on(source, target):
                    break
            for end in (source, target):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> bool:
        try:
            piece = source.recv(CHUNK)
            time.sleep(self.delay)
            target.sendall(piece)
        except OSError:
            return False
        return bool(piece)


class Namespace:
    """A network of its own for a process, joined to this one by a pair of virtual devices."""

    def __init__(self, url: str) -> None:
        self._name = f"chargehand-{os.getpid()}"
        self._near, self._far = f"chn{os.getpid()}", f"chf{os.getpid()}"
        self.prefix = ("ip", "netns", "exec", self._name)
        ip("netns", "add", self._name)
        try:
            self._join()
            self._relay = Relay(url, HOST_SIDE)
        except BaseException:
            ip("netns", "delete", self._name)
            raise
        self.url = self._relay.url

    def _join(self) -> None:
        ip("link", "add", self._near, "type", "veth", "peer", self._far, "netns", self._name)
        ip("address", "add", f"{HOST_SIDE}/30", "dev", self._near)
        ip("link", "set", self._near, "up")
        ip("-n", self._name, "address", "add", f"{FAR_SIDE}/30", "dev", self._far)
        ip("-n", self._name, "link", "set", self._far, "up")
        ip("-n", self._name, "link", "set", "lo", "up")

    def cut(self, *ways: Way) -> None:
        """Send what goes that way to an address that nobody has."""
        for way in ways:
            ip(*self._neighbour(way, "replace"), "lladdr", NOWHERE, "nud", "permanent")

    def heal(self) -> None:
        """Have both sides look each other up again."""
        for way in BOTH:
            ip(*self._neighbour(way, "delete"), check=False)

    def _neighbour(self, way: Way, act: str) -> Sequence[str]:
        if way is Way.OUT:
            return ("-n", self._name, "neighbour", act, HOST_SIDE, "dev", self._far)
        return ("neighbour", act, FAR_SIDE, "dev", self._near)

    def close(self) -> None:
        """Take everything down, the devices first: processes that end later keep the namespace."""
        self._relay.close()
        ip("link", "delete", self._near)
        ip("netns", "delete", self._name)


def ip(*words: str, check: bool = True) -> None:
    """Run ``ip``; raises CalledProcessError where ``check``."""
    subprocess.run(["ip", *words], check=check, capture_output=True)


def can_have_namespaces() -> bool:
    """Whether this machine and this user can make them."""
    if os.geteuid() != 0 or shutil.which("ip") is None or not Path("/proc/self/ns/net").exists():
        return False
    probe = f"chargehand-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", probe], check=False, capture_output=True)
    if made.returncode:
        return False
    ip("netns", "delete", probe)
    return True


@contextmanager
def network(kind: str, url: str) -> Iterator[Network]:
    """Have a network of a kind (``relay`` or ``namespace``) in front of the server at ``url``."""
    made = Relay(url) if kind == "relay" else Namespace(url)
    try:
        yield made
    finally:
        made.heal()
        made.close()
