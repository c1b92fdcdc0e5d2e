"""Hearing when a task's body begins: one datagram each, by the clock that all processes share."""

import os
import random
import socket
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from benchmarks.handlers import ADDRESS

DROPPED: Final = 5
"""Samples at the beginning that only warm up."""
PAUSE: Final = (0.02, 0.05)
"""Seconds between two samples, at random, so that none falls into step with a poll."""
PATIENCE: Final = 30.0


class Stamps:
    """The socket that bodies speak to; make it before the processes that hold them."""

    def __init__(self, folder: Path) -> None:
        path = folder / "stamps"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._socket.settimeout(PATIENCE)
        os.environ[ADDRESS] = str(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def collect(self, submit: Callable[[], object], samples: int) -> list[float]:
        """Milliseconds from before each ``submit`` to the body of what it submitted."""
        found = []
        for _ in range(samples + DROPPED):
            time.sleep(random.uniform(*PAUSE))
            began = time.monotonic_ns()
            submit()
            found.append((int(self._socket.recv(64)) - began) / 1e6)
        return found[DROPPED:]
