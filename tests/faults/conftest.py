"""Real processes on a real server that a test may kill, freeze and restart."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.faults.handlers import FOLDER, WORKER
from tests.faults.network import Network
from tests.floor import Floor
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]
MANAGE = (str(ROOT / "manage.py"),)
NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass
class Plant:
    """A floor whose supervisor and workers are processes of their own."""

    floor: Floor
    folder: Path
    database: str
    environment: Mapping[str, str]
    start: Callable[..., "subprocess.Popen[bytes]"]

    def work(
        self, name: str, *options: str, net: Network | None = None
    ) -> "subprocess.Popen[bytes]":
        """Start a worker process and wait until it stands in the record."""
        command = ("work", "--name", name, "--handlers", "tests.faults.handlers", *options)
        process = self.start(*command, net=net, environment={WORKER: name})
        self._wait_for(name, process)
        return process

    def skewed(self, name: str, modules: str, rate: float) -> "subprocess.Popen[bytes]":
        """Start a worker process whose clocks run at a rate of their own, and wait for it."""
        command = (name, modules, str(rate))
        program = ("-m", "tests.faults.skewed")
        process = self.start(*command, program=program, environment={WORKER: name})
        self._wait_for(name, process)
        return process

    def _wait_for(self, name: str, process: "subprocess.Popen[bytes]") -> None:
        from tasks_app.models import Worker

        wait_for(
            lambda: Worker.objects.filter(name=name, state="active", pid=process.pid).exists(),
            f"{name} to register",
            90,
        )

    def supervise(self, net: Network | None = None) -> "subprocess.Popen[bytes]":
        """Start a supervisor process."""
        return self.start("supervise", net=net)

    def shut(self) -> None:
        """Close the gate: handlers that began wait behind it."""
        (self.folder / "gate").touch()

    def open(self) -> None:
        """Open the gate."""
        (self.folder / "gate").unlink()

    def lines(self, name: str) -> Sequence[str]:
        """What handlers wrote."""
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def plant(tmp_path: Path, process_env: Mapping[str, str]) -> Iterator[Plant]:
    """Short times, so that a loss is noticed within two seconds."""
    processes: list[subprocess.Popen[bytes]] = []
    shared = {**process_env, FOLDER: str(tmp_path)}

    def start(
        *command: str,
        program: Sequence[str] = MANAGE,
        net: Network | None = None,
        environment: Mapping[str, str] = NOTHING,
    ) -> "subprocess.Popen[bytes]":
        line = [sys.executable, *program, *command]
        own = {**shared, **environment}
        if net is not None:
            line, own = [*net.prefix, *line], {**own, "DATABASE_URL": net.url}
        process = subprocess.Popen(line, cwd=ROOT, env=own)
        processes.append(process)
        return process

    floor = Floor()
    floor.settings(
        heartbeat_seconds=0.2,
        stale_after_seconds=2.0,
        timeout_grace_seconds=0.5,
        tick_seconds=0.2,
        leader_lease_seconds=2.0,
        shift_seconds=60.0,
    )
    floor.kind("step", backoff_base_seconds=0.1, max_attempts=5)
    floor.kind("hang", backoff_base_seconds=0.1, max_attempts=2)
    yield Plant(floor, tmp_path, process_env["DATABASE_URL"], shared, start)
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.wait(10)
    # Whatever was killed, and wherever: what stands on record is sound.
    floor.assert_invariants()
