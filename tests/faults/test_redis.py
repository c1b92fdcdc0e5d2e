"""A Redis that goes away and comes back, again and again."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from kombu.connection import Connection

from controlplane import redis_broker
from controlplane.ports import free_port
from tasks_app.models import Leader
from tests.faults.conftest import ROOT
from tests.floor import Floor
from tests.waiting import wait_for

FLAPS = 4


def test_a_connection_that_was_closed_meanwhile_is_lost_and_no_fault() -> None:
    connect: Any = Connection
    connection = connect("redis://127.0.0.1:1/0", transport=redis_broker.Transport)
    channel = redis_broker.Channel.__new__(redis_broker.Channel)
    channel.connection = connection.transport
    connection.transport.client = None
    with pytest.raises(ConnectionError, match="closed"):
        channel._connparams()
    assert issubclass(ConnectionError, connection.transport.connection_errors)


class Redis:
    """A server of the test's own that can be killed and started again."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self.port = free_port(17650)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, with nothing of what it held before."""
        command = [self._program, "--port", str(self.port), "--save", "", "--bind", "127.0.0.1"]
        self._process = subprocess.Popen(
            command, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        """End it without a word."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    """A Redis, where the machine has one."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    server = Redis(program, tmp_path)
    server.start()
    yield server
    server.kill()


def shifts_follow() -> None:
    """Wait until two more shifts have begun."""
    before = Leader.objects.get().epoch
    wait_for(lambda: Leader.objects.get().epoch > before + 1, "shifts to follow each other", 60)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_whoever_is_on_duty_stays_though_redis_flaps(
    record: None, redis: Redis, process_env: Mapping[str, str]
) -> None:
    Floor().settings(shift_seconds=2.0, leader_lease_seconds=2.0, tick_seconds=0.2)
    environment = {**process_env, "CELERY_BROKER_URL": f"redis://127.0.0.1:{redis.port}/0"}
    app = [sys.executable, "-m", "celery", "--quiet", "--app", "controlplane.celery"]
    pool = ["--pool", "threads", "--concurrency", "2", "--without-gossip", "--without-mingle"]
    processes = [
        subprocess.Popen(
            [*app, "worker", "--queues", "supervise", *pool], cwd=ROOT, env=environment
        ),
        subprocess.Popen([*app, "beat"], cwd=ROOT, env=environment),
    ]
    try:
        for _ in range(FLAPS):
            shifts_follow()
            redis.kill()
            redis.start()
        shifts_follow()
        assert all(process.poll() is None for process in processes), "nobody had to be restarted"
    finally:
        for process in processes:
            process.kill()
            process.wait(10)
