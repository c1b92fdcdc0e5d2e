"""What a worker process is started with."""

import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


def default_name() -> str:
    """Host name and process id: unlike any other worker's on this network."""
    return f"{socket.gethostname()}-{os.getpid()}"


@dataclass(frozen=True, slots=True)
class Options:
    """Name, size and manners of one worker; times in seconds.

    ``modules`` hold the handlers, ``version`` says which ones they are. With ``processes`` each
    slot is a child process, which calls ``child_setup`` before it imports them. ``before_task`` is
    called before each handler, in its thread or child; both must be importable by name. ``grace``
    is how long running work may go on after SIGTERM, ``patience`` how long a handler that was told
    to stop may take before this process is ended for its sake.
    """

    modules: Sequence[str]
    name: str = field(default_factory=default_name)
    version: str = ""
    slots: int = 8
    processes: bool = False
    grace: float = 30.0
    patience: float = 5.0
    child_setup: Callable[[], object] | None = None
    before_task: Callable[[], object] | None = None
