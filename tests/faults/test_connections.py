"""Workers with many slots on a database with few connections."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from controlplane.embedded import Server, running
from tasks_app.services.attempts.handler_connections import KEPT
from tests.faults.test_postgres import SETTINGS, manage
from tests.waiting import wait_for

OWN = 6
"""A worker's own connections: session, heartbeat, reports, hints, and two for effects."""

SUBMIT = """
INSERT INTO task (id, kind, payload, estimate_seconds, max_attempts)
SELECT gen_random_uuid(), '{kind}', jsonb_build_object('n', n), 1, 3 FROM generate_series(1, %s) n
"""
BACKENDS = """
SELECT count(*) FROM pg_stat_activity
 WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


@dataclass
class Small:
    """A server with few connections, one of which is the test's from the beginning."""

    server: Server
    connection: "psycopg.Connection[tuple[object, ...]]"

    def ask(self, statement: str, *params: object) -> int:
        """Run one statement and return its only figure."""
        cursor = self.connection.execute(statement.encode(), params)
        row = cursor.fetchone() if cursor.description else None
        return int(str(row[0])) if row else 0

    def completed(self) -> int:
        """How many tasks are COMPLETED."""
        return self.ask("SELECT count(*) FROM task WHERE status = 'COMPLETED'")


@pytest.fixture
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Small]:
    """A migrated server with 20 connections."""
    with running(
        tmp_path_factory.mktemp("pg"), {"max_connections": "20", "fsync": "off"}
    ) as server:
        manage(server, "migrate", "--verbosity", "0").wait(90)
        with psycopg.connect(server.url(), autocommit=True) as connection:
            made = Small(server, connection)
            made.ask(SETTINGS)
            yield made


@pytest.mark.parametrize("options", [(), ("--processes",)], ids=["threads", "processes"])
def test_more_slots_than_connections_neither_silence_a_worker_nor_fail_its_tasks(
    small: Small, tmp_path: Path, options: tuple[str, ...]
) -> None:
    slots, tasks = ("12", 60) if options else ("50", 300)
    small.ask("INSERT INTO kind (name) VALUES ('ask')")
    worker = ("work", "--name", "w1", "--handlers", "tests.faults.asking", "--slots", slots)
    processes = [
        manage(small.server, "supervise", folder=tmp_path),
        manage(small.server, *worker, *options, folder=tmp_path),
    ]
    try:
        small.ask(SUBMIT.format(kind="ask"), tasks)
        wait_for(lambda: small.completed() == tasks, "every task to be completed", 120)
        assert small.ask("SELECT count(*) FROM attempt WHERE outcome <> 'completed'") == 0
        assert small.ask("SELECT count(*) FROM worker") == 1, "its boot never ended"
    finally:
        for process in processes:
            process.kill()
            process.wait(10)


def test_a_worker_with_many_slots_holds_few_idle_connections(small: Small, tmp_path: Path) -> None:
    small.ask("INSERT INTO kind (name) VALUES ('both')")
    supervisor = manage(small.server, "supervise", folder=tmp_path)
    wait_for(lambda: small.ask("SELECT count(*) FROM shift") > 0, "a supervisor", 60)
    worker = None
    try:
        before = small.ask(BACKENDS)
        (tmp_path / "gate").touch()
        small.ask(SUBMIT.format(kind="both"), 80)
        worker = manage(
            small.server, "work", "--handlers", "tests.faults.asking", "--slots", "40",
            folder=tmp_path,
        )  # fmt: skip
        running_now = "SELECT count(*) FROM task WHERE status = 'RUNNING'"
        wait_for(lambda: small.ask(running_now) == 40, "every slot to be busy", 60)
        (tmp_path / "gate").unlink()
        wait_for(lambda: small.completed() == 80, "every task to be completed", 60)
        idle = wait_for(
            lambda: (now := small.ask(BACKENDS)) <= before + OWN + KEPT and now,
            "connections of handlers to be closed",
        )
        assert idle <= before + OWN + KEPT
    finally:
        for process in (supervisor, worker):
            if process is not None:
                process.kill()
                process.wait(10)
