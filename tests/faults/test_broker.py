"""Brokers and beats that vanish, forget, repeat themselves or freeze: they only wake."""

import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import celery
import pytest

from controlplane.ports import free_port
from tasks_app.core.states import Status
from tasks_app.models import Attempt, Leader, Task
from tests.faults.conftest import ROOT, Plant
from tests.waiting import wait_for

APP = ("-m", "celery", "--quiet", "--app", "controlplane.celery")
SUPERVISOR = (*APP, "worker", "--queues", "supervise", "--pool", "threads", "--concurrency", "2",
              "--without-gossip", "--without-mingle", "--loglevel", "WARNING")  # fmt: skip


@dataclass
class Site:
    """A plant whose supervisor is woken by Celery."""

    plant: Plant
    environment: dict[str, str]
    folder: Path
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def run(self, *command: str) -> "subprocess.Popen[bytes]":
        """Start a program."""
        process = subprocess.Popen(command, cwd=ROOT, env=self.environment)
        self.processes.append(process)
        return process

    def supervisor(self) -> "subprocess.Popen[bytes]":
        """Start the Celery worker that leads."""
        return self.run(sys.executable, *SUPERVISOR, "--hostname", f"s@{self.folder.name}")

    def beat(self, name: str) -> "subprocess.Popen[bytes]":
        """Start a beat with a schedule file of its own."""
        schedule = str(self.folder / name)
        return self.run(sys.executable, *APP, "beat", "--schedule", schedule)

    def work_done(self, count: int) -> None:
        """Submit so much, and wait until all of it is done, each once."""
        self.plant.floor.submit(count, kind="step")
        wait_for(lambda: not Task.objects.exclude(status=Status.COMPLETED).exists(), "the work", 60)
        done = Attempt.objects.filter(outcome="completed").values_list("task_id", flat=True)
        assert Counter(done) == dict.fromkeys(Task.objects.values_list("id", flat=True), 1)
        assert len(self.plant.lines("effects")) == Task.objects.count()

    def on_duty(self) -> bool:
        """Whether a leader's lease is in force, by the database's clock."""
        return Leader.objects.extra(where=["expires_at > statement_timestamp()"]).exists()


@pytest.fixture
def site(plant: Plant, tmp_path: Path) -> Iterator[Site]:
    """The embedded broker of this test alone, and a beat a second."""
    environment = {
        **plant.environment,
        "CHARGEHAND_VAR": str(tmp_path / "var"),
        "BEAT_SECONDS": "1",
    }
    made = Site(plant, environment, tmp_path)
    yield made
    for process in reversed(made.processes):
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.wait(10)


def test_two_beats_hand_out_nothing_twice_and_one_of_them_is_enough(site: Site) -> None:
    site.plant.floor.settings(shift_seconds=1.0)
    site.supervisor()
    first, _ = site.beat("first"), site.beat("second")
    site.plant.work("w1", "--slots", "4")
    site.work_done(40)
    first.kill()
    first.wait(10)
    epoch = Leader.objects.get().epoch
    wait_for(lambda: Leader.objects.get().epoch > epoch + 1, "shifts that the other one began", 30)
    site.work_done(40)


def test_a_frozen_beat_stops_nothing_that_is_on_duty_and_is_caught_up_with(site: Site) -> None:
    site.plant.floor.settings(shift_seconds=3.0)
    site.supervisor()
    beat = site.beat("only")
    site.plant.work("w1", "--slots", "4")
    site.work_done(20)
    beat.send_signal(signal.SIGSTOP)
    wait_for(lambda: not site.on_duty(), "the last shift to end", 40)
    (task,) = site.plant.floor.submit(kind="step")
    beat.send_signal(signal.SIGCONT)
    site.work_done(20)
    assert site.plant.floor.status(task) is Status.COMPLETED


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_a_broker_that_dies_forgets_and_repeats_itself_costs_nothing(site: Site) -> None:
    port = free_port(16379)
    url = f"redis://127.0.0.1:{port}/0"
    site.environment["CELERY_BROKER_URL"] = url
    site.plant.floor.settings(shift_seconds=20.0)

    def redis() -> "subprocess.Popen[bytes]":
        return site.run("redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                        "--appendonly", "no", "--dir", str(site.folder),
                        "--loglevel", "warning")  # fmt: skip

    broker = redis()
    site.supervisor()
    site.beat("only")
    site.plant.work("w1", "--slots", "4")
    site.work_done(40)
    broker.kill()
    broker.wait(10)
    site.work_done(40)
    epoch = Leader.objects.get().epoch
    redis()
    sender = celery.Celery(broker=url)
    sender.conf.broker_connection_retry = True
    for _ in range(30):
        sender.send_task("tasks_app.beat.supervise", queue="supervise", retry=True)
    sender.close()
    site.work_done(40)
    wait_for(lambda: Leader.objects.get().epoch > epoch, "a shift that the new broker began", 60)
    site.work_done(40)
