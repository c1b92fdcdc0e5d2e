"""A disk that is full: programs are told, and nothing that was accepted is lost."""

import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pytest

from controlplane.embedded import Server
from controlplane.embedded.place import Place
from controlplane.ports import free_port
from tests.faults.conftest import MANAGE, ROOT
from tests.faults.handlers import FOLDER, WORKER
from tests.faults.test_postgres import SETTINGS, ask
from tests.waiting import wait_for

SIZE = "256m"
# Small log files that are used again early, so that a disk this small holds a cluster at all.
SMALL = {"max_wal_size": "64MB", "min_wal_size": "32MB", "shared_buffers": "16MB"}
PADDING = "x" * 2000


@dataclass
class Box:
    """A server on a small disk of its own, with everything that works on it."""

    server: Server
    disk: Path
    notes: Path
    port: int
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    token: str = ""

    def run(self, *command: str) -> "subprocess.Popen[bytes]":
        """Start a program on this server."""
        environment = {
            **os.environ,
            "DATABASE_URL": self.server.url(),
            FOLDER: str(self.notes),
            WORKER: "w1",
        }
        process = subprocess.Popen([sys.executable, *command], cwd=ROOT, env=environment)
        self.processes.append(process)
        return process

    def post(self, key: str) -> tuple[int, list[str]]:
        """Submit a task over HTTP; return the status and the ids that were acknowledged."""
        body = json.dumps({"kind": "step", "payload": {"n": 1, "why": PADDING}, "key": key})
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/v1/tasks",
            body.encode(),
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, [each["id"] for each in json.load(answer)["tasks"]]
        except urllib.error.HTTPError as refusal:
            return refusal.code, []
        except OSError:
            return 0, []

    def fill(self) -> None:
        """Write until the disk is full."""
        with (self.disk / "ballast").open("ab", buffering=0) as ballast:
            for size in (1 << 20, 1 << 12):
                with pytest.raises(OSError, match="No space left on device"):
                    write_for_ever(ballast, b"\0" * size)

    def free(self) -> None:
        """Make room again."""
        (self.disk / "ballast").unlink()


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """A disk in memory, a server on it, a supervisor, a worker and a web process."""
    disk = Path(tempfile.mkdtemp(prefix="chargehand-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0755", "chargehand-test", str(disk)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        disk.rmdir()
        pytest.skip("a small disk cannot be mounted here")
    made = Box(Server(Place(disk / "pg"), SMALL), disk, tmp_path, free_port(18541))
    try:
        made.server.start()
        yield made
    finally:
        for process in made.processes:
            process.kill()
            process.wait(10)
        with suppress(FileNotFoundError):
            made.free()
        made.server.stop()
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
        disk.rmdir()


def write_for_ever(file: IO[bytes], piece: bytes) -> None:
    while True:
        file.write(piece)


def completed(box: Box) -> int:
    return ask(box.server, "SELECT count(*) FROM task WHERE status = 'COMPLETED'")


def refused_at_last(box: Box, accepted: set[str]) -> int:
    """Submit until the full disk is felt; note what is acknowledged until then."""
    for n in range(100_000):
        box.fill()
        status, ids = box.post(f"full-{n}")
        accepted.update(ids)
        if status != 201:
            return status
    raise AssertionError("the disk was never felt to be full")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_told_and_loses_nothing_and_work_goes_on_when_there_is_room(
    box: Box,
) -> None:
    assert box.run(*MANAGE, "migrate", "--verbosity", "0").wait(90) == 0
    made = subprocess.run(
        [sys.executable, *MANAGE, "token", "create", "program"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": box.server.url()},
        capture_output=True,
        text=True,
        check=True,
    )
    box.token = made.stdout.strip()
    ask(box.server, SETTINGS)
    ask(box.server, "INSERT INTO kind (name, backoff_base_seconds) VALUES ('step', 0.1)")
    web = ("-m", "daphne", "--port", str(box.port), "--verbosity", "0")
    working = [
        box.run(*MANAGE, "supervise"),
        box.run(*MANAGE, "work", "--name", "w1", "--handlers", "tests.faults.handlers"),
        box.run(*web, "controlplane.asgi:application"),
    ]
    accepted: set[str] = set()

    def accept(key: str) -> bool:
        status, ids = box.post(key)
        accepted.update(ids)
        return status == 201

    wait_for(lambda: accept("first"), "the first task to be accepted", 60)
    wait_for(lambda: completed(box) == 1, "the first task to be done", 60)
    assert refused_at_last(box, accepted) == 503
    box.free()
    # A server that could not write its log has given itself up, as it must.
    wait_for(lambda: box.server.alive() or box.server.ended(), "the server to come up or end", 60)
    box.server.start()
    wait_for(lambda: accept("after"), "a task to be accepted again", 60)
    wait_for(lambda: completed(box) >= len(accepted), "everything accepted to be done", 90)
    assert all(process.poll() is None for process in working), "nobody had to be restarted"
    there = ask(
        box.server, "SELECT count(*) FROM task WHERE id = ANY (%s::uuid[])", sorted(accepted)
    )
    assert there == len(accepted) > 1
    assert box.run(*MANAGE, "audit-invariants").wait(60) == 0
