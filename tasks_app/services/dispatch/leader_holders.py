"""The names of those who lead, and whether a process of this machine that led is gone."""

import functools
import hashlib
import os
import re
import socket
import threading
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
NAME: Final = re.compile(r".*:(?P<pid>\d+):\d+@(?P<place>[0-9a-f]+)")


def holder_name() -> str:
    """Host, process id and thread of the caller, and the place in which both ids mean something."""
    return f"{socket.gethostname()}:{os.getpid()}:{threading.get_native_id()}@{_place()}"


def is_gone(holder: str) -> bool:
    """Whether that process is known to have ended; False where it is of another place, or unclear.

    Its lease need not be waited for then. Were it alive after all, its epoch would fence it.
    """
    named = NAME.fullmatch(holder)
    if named is None or named["place"] != _place() or not (PROC / "self").exists():
        return False
    try:
        stat = (PROC / named["pid"] / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    # After the name, which may hold anything: a dead child that nobody has asked about yet.
    return stat.rpartition(")")[2].split()[0] == "Z"


@functools.cache
def _place() -> str:
    """This boot of this machine and this namespace of process ids: many hosts share a name."""
    parts = []
    for read in (PROC / "sys/kernel/random/boot_id").read_text, _namespace:
        try:
            parts.append(read())
        except OSError:
            parts.append("")
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:6]


def _namespace() -> str:
    return str((PROC / "self/ns/pid").readlink())
