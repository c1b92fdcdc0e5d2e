"""One runner at a time in one folder; the second learns where the first one answers."""

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path


class AlreadyRunning(Exception):
    """Another runner holds the folder; the message is one sentence that names its address."""


@contextlib.contextmanager
def only_one(lock: Path) -> Iterator[Callable[[str], None]]:
    """Hold ``lock`` and yield a function that notes this runner's address in it."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a+", errors="replace") as handle:
        try:
            # The lock ends with its process, however that ends; the file's mere presence means
            # nothing.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            raise AlreadyRunning(handle.read() or "Chargehand is being started here.") from None

        def note(address: str) -> None:
            handle.seek(0)
            handle.truncate()
            handle.write(
                f"Chargehand is already running here: {address} (process {os.getpid()}; "
                "Ctrl-C in its terminal ends it)."
            )
            handle.flush()

        try:
            handle.truncate(0)
            yield note
        finally:
            handle.truncate(0)
