"""The processes of one machine: honcho runs the lines and prints what they say.

Honcho puts one process of its own between itself and each line. A chain ties all of them to the
runner: that process is killed with the runner, the keeper is ended with that process, and the child
with the keeper.
"""

import contextlib
import multiprocessing
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from honcho.manager import Manager
from honcho.printer import Printer
from honcho.process import Process

from controlplane.embedded import EmbeddedError, Server
from controlplane.tether import tethered, tie

Helper = Callable[[threading.Event], None]
"""A thread beside the lines, which returns when the event is set."""

LOOK_SECONDS: Final = 1.0
# A keeper that could not even start must not be tried as fast as the machine can.
AGAIN_SECONDS: Final = 0.5


class TiedProcess(Process):  # type: ignore[misc]  # honcho has no types
    """A line whose process in between dies with the runner."""

    def run(self, events: Any = None, ignore_signals: bool = False) -> None:
        """Tie this process first, then run the line."""
        runner = multiprocessing.parent_process()
        if runner is None or runner.pid is None:
            raise RuntimeError("a line runs in a process of its own")
        tie(signal.SIGKILL, runner.pid)
        # The keeper's parent is this process, not the runner that composed the line.
        keeper = tethered(signal.SIGTERM, shlex.split(self.cmd))
        self.cmd: str = f"exec {shlex.join(keeper)}"
        super().run(events, ignore_signals)


class Stack(Manager):  # type: ignore[misc]  # honcho has no types
    """The lines of the Procfiles and the threads beside them; a killed line is begun again."""

    def __init__(self, helpers: Sequence[Helper]) -> None:
        # The chain needs the runner as the parent; the default on newer Pythons is a fork server.
        multiprocessing.set_start_method("fork", force=True)
        super().__init__(Printer(sys.stdout, time_format=""))
        self._process_ctor = TiedProcess
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=each, args=[self._ended]) for each in helpers]

    def add(self, procfile: str, name: str, env: Mapping[str, str]) -> None:
        """Add one line of a Procfile, under its keeper."""
        command = [sys.executable, "-m", "controlplane.keeper", procfile, name]
        self.add_process(name, shlex.join(command), env=dict(env))

    def run(self) -> None:
        """Run until SIGINT or SIGTERM, and until everything has ended then."""
        try:
            self.loop()
        finally:
            self._ended.set()
            for thread in self._threads:
                thread.join()

    def terminate(self) -> None:
        """End the lines, and tell the threads at the same time."""
        self._ended.set()
        super().terminate()

    def _start(self) -> None:
        with self._signals_held():
            super()._start()
            # Threads start after the forks, which would copy a lock that one of them holds.
            for thread in self._threads:
                thread.start()

    def _any_stopped(self) -> bool:
        """Honcho ends everything when one line has ended; until asked to end, begin it again."""
        self._note_killed()
        if self._terminating:
            return bool(super()._any_stopped())
        for name, line in self._processes.items():
            if "returncode" in line:
                self._begin_again(name, line)
        return False

    def _all_stopped(self) -> bool:
        self._note_killed()
        return bool(self._terminating and super()._all_stopped())

    def _note_killed(self) -> None:
        """Honcho's own process of a line, when killed, cannot report that the line ended."""
        for line in self._processes.values():
            if "pid" in line and not line["process"].is_alive():
                line.setdefault("returncode", -signal.SIGKILL)

    def _begin_again(self, name: str, line: dict[str, Any]) -> None:
        self._system_print(f"{name} lost its keeper; starting both again\n")
        time.sleep(AGAIN_SECONDS)
        with self._signals_held():
            process = line["obj"]
            line.clear()
            line["obj"] = process
            line["process"] = multiprocessing.Process(
                name=name, target=process.run, args=(self.events, True)
            )
            line["process"].start()

    @contextlib.contextmanager
    def _signals_held(self) -> Iterator[None]:
        """Let no signal end the lines before all are known: honcho ends only what it knows."""
        ending = {signal.SIGINT, signal.SIGTERM}
        signal.pthread_sigmask(signal.SIG_BLOCK, ending)
        yield
        while not self._all_started():
            message = self.events.get()
            match message.type:
                case "start":
                    self._processes[message.name]["pid"] = message.data["pid"]
                case "stop":
                    self._processes[message.name]["returncode"] = message.data["returncode"]
                case _:
                    self._printer.write(message)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ending)


class PostgresWatch:
    """Starts the embedded PostgreSQL again when it ended, as the keepers do for the lines."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def run(self, ended: threading.Event) -> None:
        """Look until the end; this thread is the new server's parent and must live as long."""
        while not ended.wait(LOOK_SECONDS):
            if not self._server.ended() or self._server.alive():
                continue
            print("keeper: the embedded PostgreSQL ended; starting it again", flush=True)
            try:
                self._server.start()
            except EmbeddedError as error:
                print(f"keeper: {error}", flush=True)
