"""A database that is read-only for a while: a fail-over, or a disk that somebody watches over."""

import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import psycopg
import pytest

from controlplane.embedded import Server
from controlplane.embedded.place import Place
from controlplane.ports import free_port
from tests.faults.conftest import MANAGE, ROOT
from tests.faults.test_disk import Box, completed
from tests.faults.test_postgres import SETTINGS, ask
from tests.waiting import wait_for

AS_ADMIN = "-c default_transaction_read_only=off"


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """A server of the test's own, with everything that works on it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = Box(Server(Place(disk / "pg")), disk, tmp_path, free_port(18641))
    made.server.start()
    yield made
    for process in made.processes:
        process.kill()
        process.wait(10)
    made.server.stop()


def as_admin(box: Box, statement: str) -> None:
    """Run a statement in a session that may write whatever the database's default says."""
    with psycopg.connect(box.server.url(), autocommit=True, options=AS_ADMIN) as session:
        session.execute(statement.encode())


def end_sessions(box: Box) -> None:
    """Have every session of a program begin again, under the defaults of this moment."""
    as_admin(
        box,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )


def asked(box: Box, path: str) -> tuple[int, str, str | None]:
    """Ask for a page; return status, text and after how long to ask again."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{box.port}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode(), answer.headers["Retry-After"]
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode(), refusal.headers["Retry-After"]
    except OSError as error:
        return 0, str(error), None


def token_of(box: Box, environment: dict[str, str]) -> str:
    made = subprocess.run(
        [sys.executable, *MANAGE, "token", "create", "program"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout.strip()


@pytest.mark.timeout(300)
def test_a_read_only_database_is_told_and_everything_goes_on_when_it_accepts_writes_again(
    box: Box, process_env: dict[str, str]
) -> None:
    assert box.run(*MANAGE, "migrate", "--verbosity", "0").wait(90) == 0
    environment = {**process_env, "DATABASE_URL": box.server.url()}
    box.token = token_of(box, environment)
    ask(box.server, SETTINGS)
    ask(box.server, "INSERT INTO kind (name, backoff_base_seconds) VALUES ('step', 0.1)")
    web = ("-m", "daphne", "--port", str(box.port), "--verbosity", "0")
    working = [
        box.run(*MANAGE, "supervise"),
        box.run(*MANAGE, "work", "--name", "w1", "--handlers", "tests.faults.handlers"),
        box.run(*web, "controlplane.asgi:application"),
    ]
    wait_for(lambda: box.post("first")[0] == HTTPStatus.CREATED, "the first task", 60)
    wait_for(lambda: completed(box) == 1, "the first task to be done", 60)
    wait_for(lambda: asked(box, "/readyz")[0] == HTTPStatus.OK, "the site to be ready", 60)

    as_admin(box, "ALTER DATABASE chargehand SET default_transaction_read_only = on")
    end_sessions(box)
    wait_for(
        lambda: box.post("refused")[0] == HTTPStatus.SERVICE_UNAVAILABLE,
        "a program to be told to come back",
        60,
    )
    status, text, _ = asked(box, "/readyz")
    assert (status, "read-only" in text) == (503, True), text
    refused = subprocess.run(
        [sys.executable, *MANAGE, "pause", "kind", "step"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    assert "read-only" in refused.stderr
    # Its sessions are as they began, and stay: what accepts writes again are new ones alone.
    as_admin(box, "ALTER DATABASE chargehand RESET default_transaction_read_only")
    wait_for(lambda: box.post("after")[0] == HTTPStatus.CREATED, "a task to be accepted", 30)
    wait_for(lambda: completed(box) == 2, "it to be done", 30)
    wait_for(lambda: asked(box, "/readyz")[0] == HTTPStatus.OK, "the site to be ready", 30)
    assert all(process.poll() is None for process in working), "nobody had to be restarted"
    assert ask(box.server, "SELECT count(*) FROM attempt WHERE outcome <> 'completed'") == 0
    assert box.run(*MANAGE, "audit-invariants").wait(60) == 0
