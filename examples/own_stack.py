"""A whole Chargehand in one folder: database, supervisor and workers that end with this process."""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from honcho.environ import parse_procfile

from controlplane.embedded import running
from controlplane.environment import ROOT
from controlplane.tether import tethered

SUPERVISOR: Final = ("supervisor", "beat")
"""The lines of the product's own Procfile that make up the supervisor."""

OUTSIDE: Final = ("ALLOWED_HOSTS", "CELERY_BROKER_URL", "CHARGEHAND_ENV", "SECRET_KEY")
BEAT_SECONDS: Final = 2
STOP_SECONDS: Final = 6.0


class ProcessEnded(Exception):
    """A process ended that nobody told to; the message names it and its last words."""


class OwnStack:
    """The processes, by name; what they say is in ``folder``/logs.

    ``handlers`` is the module that every worker gets its handlers from.
    """

    def __init__(self, folder: Path, handlers: str) -> None:
        self.folder = folder
        self._handlers = handlers
        self._logs = folder / "logs"
        self._logs.mkdir()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start_supervisor(self) -> None:
        """Start the Celery worker that supervises and the beat that wakes it."""
        lines = parse_procfile((ROOT / "Procfile").read_text()).processes
        for name in SUPERVISOR:
            self.start(name, shlex.split(lines[name]))

    def start_worker(self, name: str, slots: int) -> int:
        """Start a worker and return its process id."""
        options = ["--name", name, "--handlers", self._handlers, "--slots", str(slots)]
        return self.start(name, ["python", "manage.py", "work", *options]).pid

    def kill_supervisor(self) -> None:
        """Kill both of its processes at once, and see them gone."""
        for name in SUPERVISOR:
            self._processes[name].kill()
        for name in SUPERVISOR:
            self._processes.pop(name).wait()

    @contextlib.contextmanager
    def frozen(self, name: str) -> Iterator[None]:
        """Have a process stand still for a while."""
        process = self._processes[name]
        process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)

    def kill(self, name: str) -> None:
        """Kill one process, and see it gone."""
        process = self._processes.pop(name)
        process.kill()
        process.wait()

    def check(self) -> None:
        """Raise ProcessEnded if one has ended by itself."""
        for name, process in self._processes.items():
            if process.poll() is not None:
                words = (self._logs / f"{name}.log").read_text(errors="replace").strip()
                last = words.splitlines()[-1:] or ["it said nothing"]
                raise ProcessEnded(f"{name} ended with code {process.returncode}: {last[0]}")

    def stop(self) -> None:
        """End everything: gently, then for sure."""
        for process in self._processes.values():
            process.terminate()
        give_up = time.monotonic() + STOP_SECONDS
        for process in self._processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, give_up - time.monotonic()))
            process.kill()
            process.wait()

    def start(self, name: str, command: Sequence[str]) -> "subprocess.Popen[bytes]":
        """Start one process; the command "python" is this very Python."""
        program, *arguments = command
        line = [sys.executable if program == "python" else program, *arguments]
        with (self._logs / f"{name}.log").open("ab") as log:
            # A session of its own, so that Ctrl-C reaches this process alone, which ends the rest
            # in order; tied, so that they end even when it is killed.
            process = subprocess.Popen(  # noqa: S603
                tethered(signal.SIGKILL, line),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._processes[name] = process
        return process


@contextlib.contextmanager
def own_stack(folder: Path, handlers: str, environment: Mapping[str, str]) -> Iterator[OwnStack]:
    """Have a database of one's own, migrated, and Django set up on it; end all at the end.

    Changes this process's environment, from which the others get theirs.
    """
    for name in OUTSIDE:
        os.environ.pop(name, None)
    with running(folder / "postgres") as server:
        os.environ.update(
            DJANGO_SETTINGS_MODULE="controlplane.settings",
            CHARGEHAND_VAR=str(folder),
            DATABASE_URL=server.url(),
            BEAT_SECONDS=str(BEAT_SECONDS),
            PYTHONUNBUFFERED="1",
            **environment,
        )
        _migrate()
        stack = OwnStack(folder, handlers)
        try:
            yield stack
        finally:
            stack.stop()
            _disconnect()


def _migrate() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", interactive=False, verbosity=0)


def _disconnect() -> None:
    from django.db import connections

    connections.close_all()
