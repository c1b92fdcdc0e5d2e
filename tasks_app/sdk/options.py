"""What a worker process is started with."""

import os
import secrets
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tasks_app.sdk.link import Link


def default_name() -> str:
    """Host name, process id and six random characters.

    The first two are not enough: containers may share a host name, and each of their workers is
    process 1.
    """
    return f"{socket.gethostname()[:80]}-{os.getpid()}-{secrets.token_hex(3)}"


@dataclass(frozen=True, slots=True)
class Options:
    """Name, size and manners of one worker; times in seconds.

    ``modules`` hold the handlers, ``version`` says which ones they are. With ``processes`` each
    slot is a child process, which calls ``child_setup`` before it imports them. ``before_task`` is
    called before each plain handler and ``after_task`` after it, in its thread or child, but not
    after those of the first ``kept`` slots; all of them must be importable by name. ``grace`` is
    how long running work may go on after SIGTERM, ``patience`` how long a handler that was told to
    stop may take before this process is ended for its sake. A child is replaced once it has run
    ``max_tasks_per_child`` tasks, or holds more than ``max_memory_per_child`` MiB after one. With
    ``rescue_link``, importable by name, a process beside the threads speaks for a worker that one
    of its handlers has silenced.
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
    after_task: Callable[[], object] | None = None
    kept: int = 0
    max_tasks_per_child: int | None = None
    max_memory_per_child: int | None = None
    rescue_link: Callable[[], Link] | None = None

    def after(self, slot: int) -> Callable[[], object] | None:
        """What is called after each handler of a slot, counted from 0."""
        return self.after_task if slot >= self.kept else None
