"""A PostgreSQL that restarts or crashes under load."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from controlplane.embedded import Server, running
from tests.faults.conftest import ROOT
from tests.faults.handlers import FOLDER
from tests.waiting import wait_for

SUBMIT = """
INSERT INTO task (id, kind, payload, estimate_seconds, max_attempts)
SELECT gen_random_uuid(), 'step', jsonb_build_object('n', n), 1, 5 FROM generate_series(1, %s) n
"""
SETTINGS = """
UPDATE supervisor_settings SET heartbeat_seconds = 0.2, leader_lease_seconds = 2,
       tick_seconds = 0.2
"""


@pytest.fixture
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that this test alone uses, migrated."""
    with running(tmp_path_factory.mktemp("pg")) as server:
        manage(server, "migrate", "--verbosity", "0").wait(60)
        yield server


def manage(server: Server, *command: str, folder: Path | None = None) -> "subprocess.Popen[bytes]":
    """Start ``manage.py`` on that server."""
    environment = {**os.environ, "DATABASE_URL": server.url(), FOLDER: str(folder)}
    return subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), *command], cwd=ROOT, env=environment
    )


def ask(server: Server, statement: str, *params: object) -> int:
    """Run one statement and return its only figure."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        cursor = connection.execute(statement.encode(), params)
        row = cursor.fetchone() if cursor.description else None
        return int(row[0]) if row else 0


def completed(server: Server) -> int:
    """How many tasks are COMPLETED."""
    return ask(server, "SELECT count(*) FROM task WHERE status = 'COMPLETED'")


@pytest.mark.parametrize("crash", [False, True], ids=["restart", "crash"])
def test_every_process_goes_on_after_postgresql_came_back(
    own_server: Server, tmp_path: Path, crash: bool
) -> None:
    ask(own_server, SETTINGS)
    ask(own_server, "INSERT INTO kind (name, backoff_base_seconds) VALUES ('step', 0.1)")
    worker = ("work", "--name", "w1", "--handlers", "tests.faults.handlers", "--slots", "2")
    processes = [
        manage(own_server, "supervise", folder=tmp_path),
        manage(own_server, *worker, folder=tmp_path),
    ]
    try:
        ask(own_server, SUBMIT, 500)
        wait_for(lambda: completed(own_server) > 20, "the work to be under way", 30)
        (tmp_path / "gate").touch()
        before = completed(own_server)
        (own_server.kill if crash else own_server.stop)()
        own_server.start()
        (tmp_path / "gate").unlink()
        wait_for(lambda: completed(own_server) == 500, "all work to be done", 60)
        assert before < 500
        assert all(process.poll() is None for process in processes), "nobody had to be restarted"
        duplicates = ask(
            own_server,
            "SELECT count(*) FROM (SELECT FROM attempt WHERE outcome = 'completed'"
            " GROUP BY task_id HAVING count(*) > 1) d",
        )
        assert duplicates == 0
    finally:
        for process in processes:
            process.kill()
            process.wait(10)
