"""One private embedded PostgreSQL for the whole run, started when the first test asks for it."""

import os
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

import django
import pytest
from hypothesis import settings

from controlplane.embedded import Server, running
from tests.environment import VAR

django.setup()
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


@pytest.fixture(scope="session")
def django_db_modify_db_settings(postgres: Server) -> None:
    """Have the server up before pytest-django makes the test database on it.

    A test may rest inside its transaction for as long as a busy machine makes it; the limit is for
    leaders, which the tests that freeze one start as processes with the settings as they are.
    """
    from django.db import connection

    connection.settings_dict["OPTIONS"]["options"] += " -c idle_in_transaction_session_timeout=0"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """The flush after a test empties every table: in the test database alone the audit lets it."""
    from django.db import connection

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        for table in ("audit_entry", "audit_head"):
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER audit_keep_all")


@pytest.fixture
def record(transactional_db: None) -> None:
    """A record whose writes commit; the flush after each such test takes its single rows away."""
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
