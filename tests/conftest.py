"""One private embedded PostgreSQL for the whole run, started when the first test asks for it."""

import os
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

import django
import pytest
from django.conf import settings as django_settings
from django.db.backends.utils import CursorWrapper
from hypothesis import settings

from controlplane.embedded import Server, running
from tests.environment import VAR
from tests.proofs import skipped_proofs

django.setup()
django_settings.PASSWORD_HASHERS = ["tests.hashing.QuickHasher"]
# The machine may be busy with something else: a deadline would judge the neighbour.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    shutil.rmtree(VAR, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """The run's own server; tests that restart or kill one start another instead."""
    # The crash that fsync guards against is the machine's, which no test causes.
    with running(VAR / "postgres", {"fsync": "off"}) as server:
        yield server


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that spread the tests which moves of a task were seen in this one."""
    from tests.state_machine import counter, seen_in_this_process

    if output := getattr(session.config, "workeroutput", None):
        output["moves"] = [counter(move) for move in seen_in_this_process]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add what a process saw that ran a part of the tests."""
    from tests.state_machine import MOVES, counter, seen_in_this_process

    counted = getattr(node, "workeroutput", {}).get("moves", ())
    seen_in_this_process.update(move for move in MOVES if counter(move) in counted)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which moves of a task this run saw, and which proofs of the documentation it skipped."""
    from tests.state_machine import seen_in_this_process, summary

    terminalreporter.write_line(summary(seen_in_this_process))
    skipped = [str(report.nodeid) for report in terminalreporter.stats.get("skipped", [])]
    missing = skipped_proofs(skipped)
    count = f"Proofs of docs/guarantees.md and docs/security.md skipped: {len(missing)}"
    terminalreporter.write_line(count)
    for test in missing:
        terminalreporter.write_line(f"  {test}")


KEPT = ("django_migrations", "django_content_type", "auth_permission")
"""Tables that the migrations fill and that no test changes."""


SMALL_BYTES = 64 * 1024
"""Up to this size a table is emptied by DELETE, which leaves its pages with dead rows."""


def empty_the_record(cursor: CursorWrapper) -> None:
    """Empty each table that has pages on disk.

    By DELETE where the table is small: TRUNCATE makes a new file for the table and each of its
    indexes, 100 ms for those that a test of the store writes, and DELETE takes less than 1.
    """
    cursor.execute(
        "SELECT quote_ident(relname), pg_relation_size(oid) <= %s FROM pg_class"
        " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        " AND pg_relation_size(oid) > 0 AND relname <> ALL (%s)",
        [SMALL_BYTES, list(KEPT)],
    )
    written = cursor.fetchall()
    large = [table for table, small in written if not small]
    if large:
        cursor.execute(f"TRUNCATE {', '.join(large)} CASCADE")
    deletes = "; ".join(f"DELETE FROM {table}" for table, small in written if small)
    # The role of a replica neither checks foreign keys nor runs the triggers that keep the audit.
    cursor.execute(f"SET session_replication_role = replica; {deletes}")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(postgres: Server) -> None:
    """Have the server up before pytest-django makes the test database on it.

    A test may rest inside its transaction for as long as a busy machine makes it; the limit is for
    leaders, which the tests that freeze one start as processes with the settings as they are.
    """
    from django.db import connection

    connection.settings_dict["OPTIONS"]["options"] += " -c idle_in_transaction_session_timeout=0"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The test database: its audit can be emptied, and it refuses illegal moves of a task."""
    from django.apps import apps
    from django.contrib.contenttypes.models import ContentType
    from django.db import connection

    from tests.state_machine import install, moves_seen, seen_in_this_process

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        for table in ("audit_entry", "audit_head"):
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER audit_keep_all")
        install(cursor)
        # Read once a process, by whichever test comes first: it would have a query more to count.
        ContentType.objects.get_for_models(*apps.get_models())
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        seen_in_this_process.update(moves_seen(cursor))


@pytest.fixture
def transactional_db(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A database in which writes commit; each such test leaves it empty.

    In the place of pytest-django's fixture, whose flush empties every table and makes all
    permissions again: 70 ms a test.
    """
    from django.db import connection, connections

    with django_db_blocker.unblock():
        yield
        # The test may have left settings of its session behind, or a transaction that failed.
        connections.close_all()
        with connection.cursor() as cursor:
            empty_the_record(cursor)
        connections.close_all()


@pytest.fixture
def record(transactional_db: None) -> None:
    """A record whose writes commit, with its single rows."""
    from tasks_app.models import AlertSettings, Leader, RetentionSettings, SupervisorSettings

    AlertSettings.objects.get_or_create(id=1)
    RetentionSettings.objects.get_or_create(id=1)
    SupervisorSettings.objects.get_or_create(id=1)
    Leader.objects.get_or_create(id=1)


@pytest.fixture
def process_env(record: None, postgres: Server) -> Mapping[str, str]:
    """The environment in which a started process works on the test database."""
    from django.db import connection

    return {**os.environ, "DATABASE_URL": postgres.url(connection.settings_dict["NAME"])}
