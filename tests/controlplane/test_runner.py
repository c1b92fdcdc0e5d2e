"""One command runs everything of a copy, keeps it running, and leaves nothing behind."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil
import pytest

from controlplane.environment import ROOT
from controlplane.ports import free_port
from tests.waiting import wait_for

READY = re.compile(r"Chargehand is ready:  (\S+)  login: (\w+) / (\S+)")
END_SECONDS = 10.0
PROCESSES = {
    "postgres": "/bin/postgres -D",
    "web": "daphne",
    "supervisor": "celery --quiet --app controlplane.celery worker",
    "the keeper of web": "controlplane.keeper Procfile web",
    "beat": "celery --quiet --app controlplane.celery beat",
}
pytestmark = pytest.mark.timeout(180)


class Copy:
    """A runner at work on a var folder of its own."""

    def __init__(self, var: Path) -> None:
        self.var = var
        self.log = var / "runner.log"
        self.env = {**os.environ, "CHARGEHAND_VAR": str(var), "PORT": str(free_port(18000))}
        self.env.pop("DATABASE_URL", None)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "controlplane.runner"],
                cwd=ROOT,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        wait_for(lambda: self._greeting() or self.process.poll() is not None, "ready", 60)
        found = self._greeting()
        assert found, self.log.read_text()
        self.address, self.user, self.password = found.groups()

    def _greeting(self) -> "re.Match[str] | None":
        return READY.search(self.log.read_text())

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def child(self, name: str) -> psutil.Process | None:
        words = PROCESSES[name]
        for each in self.family():
            try:
                if words in " ".join(each.cmdline()):
                    return each
            except psutil.NoSuchProcess:
                continue
        return None

    def ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/readyz", timeout=2) as answer:
                return bool(json.loads(answer.read())["status"] == "ready")
        except OSError:
            return False


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [each for each in processes if is_alive(each)]


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and bool(process.status() != "zombie")
    except psutil.NoSuchProcess:
        return False  # it ended between the two questions


@contextmanager
def running_copy() -> Iterator[Copy]:
    with tempfile.TemporaryDirectory(prefix="chargehand-run-") as name:
        started = Copy(Path(name))
        family = started.family()
        yield started
        if started.process.poll() is None:
            started.process.kill()
            started.process.wait()
        wait_for(lambda: not alive(family), "the end of everything started")


@pytest.fixture
def copy() -> Iterator[Copy]:
    """One for the test alone, which may end it."""
    with running_copy() as started:
        yield started


@pytest.fixture(scope="module")
def shared() -> Iterator[Copy]:
    """One for the tests that only look."""
    with running_copy() as started:
        yield started


def test_killed_children_come_back_and_ctrl_c_ends_everything(copy: Copy) -> None:
    for name in PROCESSES:
        killed = wait_for(partial(copy.child, name), name)
        killed.kill()
        killed.wait()
        wait_for(partial(copy.child, name), f"a new {name}")
        wait_for(copy.ready, f"ready again without the first {name}", 60)

    family = copy.family()
    asked = time.monotonic()
    copy.process.send_signal(signal.SIGINT)
    assert copy.process.wait(END_SECONDS) == 0, copy.log.read_text()
    assert time.monotonic() - asked < END_SECONDS
    assert not alive(family)


def test_a_killed_go_between_of_a_line_is_replaced_with_it(copy: Copy) -> None:
    """Honcho's own processes have the runner's command line and are its direct children."""
    keepers = [each for each in copy.family() if "controlplane.keeper" in " ".join(each.cmdline())]
    go_between = keepers[0].parent()
    assert go_between is not None
    assert go_between.ppid() == copy.process.pid
    family = [go_between, *go_between.children(recursive=True)]
    go_between.kill()
    wait_for(lambda: not alive(family), "the end of the line")
    for name in PROCESSES:
        wait_for(partial(copy.child, name), name)
    wait_for(copy.ready, "ready again", 60)


def test_a_second_runner_in_the_same_folder_names_the_first_one(shared: Copy) -> None:
    second = subprocess.run(
        [sys.executable, "-m", "controlplane.runner"],
        cwd=ROOT,
        env=shared.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert second.returncode == 0
    assert second.stdout.startswith(f"Chargehand is already running here: {shared.address} ")
    assert len(second.stdout.splitlines()) == 1
    assert shared.ready()


def test_a_database_that_does_not_answer_is_one_sentence(tmp_path: Path) -> None:
    url = "postgresql://someone@127.0.0.1:1/none"
    done = subprocess.run(
        [sys.executable, "-m", "controlplane.runner"],
        cwd=ROOT,
        env={**os.environ, "CHARGEHAND_VAR": str(tmp_path), "DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("The database of DATABASE_URL cannot be reached: ")
    assert "Traceback" not in done.stderr


def test_the_login_is_printed_and_otherwise_only_its_owner_may_read_it(shared: Copy) -> None:
    kept = shared.var / "admin_password"
    assert shared.user == "admin"
    assert kept.read_text() == shared.password
    assert kept.stat().st_mode & 0o777 == 0o600


def test_nothing_outlives_a_killed_runner(copy: Copy) -> None:
    family = copy.family()
    copy.process.kill()
    copy.process.wait()
    wait_for(lambda: not alive(family), "the end of every child", END_SECONDS)
