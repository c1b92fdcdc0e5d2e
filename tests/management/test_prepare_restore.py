"""A dump of data alone goes into a migrated database: settings, tasks, the audit's chain."""

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection

from controlplane.embedded import Server
from controlplane.embedded.place import program
from tasks_app.models import AuditEntry, Task
from tasks_app.services.actions.operations import dismiss
from tasks_app.services.people.people import Actor, Role
from tasks_app.services.settings.configuration_files import apply_settings
from tests.floor import Floor
from tests.fresh import manage, migrated_database

BEA = Actor("bea", role=Role.ADMIN)
NAME = "restored"
COUNTED = ("task", "attempt", "kind", "audit_entry", "auth_user", "supervisor_settings", "death")


@pytest.fixture
def floor(record: None) -> Floor:
    """A shop floor whose writes commit, its supervisor on duty."""
    floor = Floor()
    floor.lead()
    return floor


@pytest.fixture
def migrated(postgres: Server) -> Iterator[str]:
    """A database that was only migrated."""
    with migrated_database(postgres, NAME) as url:
        yield url


def counts(url: str) -> Sequence[object]:
    with psycopg.connect(url) as read:
        found = [read.execute(f"SELECT count(*) FROM {each}").fetchone() for each in COUNTED]
        chain = read.execute("SELECT id, digest, actor FROM audit_entry ORDER BY id").fetchall()
        settings = read.execute("SELECT tick_seconds FROM supervisor_settings").fetchall()
    return [found, chain, settings]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("form", ["plain", "custom"])
def test_a_dump_of_data_alone_is_the_same_record_in_a_migrated_database(
    floor: Floor, postgres: Server, migrated: str, tmp_path: Path, form: str
) -> None:
    floor.worker("w1", slots=4)
    tasks = floor.submit(3)
    floor.round()
    for grant in floor.claim("w1"):
        floor.fail("w1", grant, permanent=True)
    dismiss(tasks[:2], BEA, "no more")
    User.objects.create_user("vera", password="x")
    apply_settings(
        {"supervisor": {"tick_seconds": 0.5}, "kinds": {"job": {"description": "é"}}}, BEA
    )
    here, file = postgres.url(connection.settings_dict["NAME"]), str(tmp_path / "dump")
    run = [
        program("pg_dump"),
        "--data-only",
        "--exclude-table=move_*",
        f"--format={form}",
        f"--file={file}",
        here,
    ]
    subprocess.run(run, check=True)
    manage(migrated, "prepare-restore")
    if form == "plain":
        restore = [program("psql"), "-q", "-1", "-v", "ON_ERROR_STOP=1", "-f", file, migrated]
    else:
        restore = [
            *(program("pg_restore"), "--data-only", "--single-transaction", "--exit-on-error"),
            *("--dbname", migrated, file),
        ]
    subprocess.run(restore, check=True, stdout=subprocess.DEVNULL)
    assert counts(migrated) == counts(here)
    manage(migrated, "audit-verify")
    manage(migrated, "audit-invariants")
    manage(migrated, "migrate", "--check")
    manage(migrated, "config", "apply", str(_file(tmp_path)))
    with psycopg.connect(migrated) as read:
        last = read.execute("SELECT max(id) FROM audit_entry").fetchone()
    newest = AuditEntry.objects.latest("id").pk
    assert last == (newest + 1,), "the audit goes on where it was"
    manage(migrated, "audit-verify")


def _file(folder: Path) -> Path:
    path = folder / "change.yaml"
    path.write_text("supervisor: {tick_seconds: 1.5}\n")
    return path


def test_a_database_that_was_used_is_left_alone(floor: Floor) -> None:
    floor.submit(1)
    with pytest.raises(CommandError, match=r"has been used \(task\)"):
        call_command("prepare-restore")
    assert Task.objects.count() == 1


def test_a_row_with_a_digest_of_its_own_is_appended_on_a_record_that_lives(floor: Floor) -> None:
    apply_settings({"supervisor": {"tick_seconds": 0.5}}, BEA)
    apply_settings({"supervisor": {"tick_seconds": 0.7}}, BEA)
    newest = AuditEntry.objects.latest("id").pk
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_entry (id, actor, action, subject, digest)"
            " VALUES (%s, 'x', 'forge', 'y', 'abc')",
            [newest + 50],
        )
    assert AuditEntry.objects.latest("id").pk == newest + 1
    call_command("audit-verify")


def test_a_second_head_is_refused_where_there_is_an_audit(floor: Floor) -> None:
    apply_settings({"supervisor": {"tick_seconds": 0.5}}, BEA)
    with pytest.raises(Exception, match="has an audit of its own"), connection.cursor() as cursor:
        cursor.execute("INSERT INTO audit_head (id, last, digest) VALUES (1, 900, '')")
