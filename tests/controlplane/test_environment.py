"""A missing or malformed setting is one clear sentence, and production assumes nothing."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.db import OperationalError

from controlplane.environment import (
    ROOT,
    database,
    kept_secret,
    mail,
    site,
    unreachable_database,
)

PRODUCTION = {
    "CHARGEHAND_ENV": "production",
    "ALLOWED_HOSTS": "chargehand.example.org",
    "CELERY_BROKER_URL": "redis://127.0.0.1:6379/0",
    "DATABASE_URL": "postgresql://chargehand@127.0.0.1/chargehand",
    "SECRET_KEY": "k9-Zq" * 12,
}


def manage(var: Path, settings: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if name not in PRODUCTION}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**kept, "CHARGEHAND_VAR": str(var), **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_deployment_check_is_clean_with_production_settings(tmp_path: Path) -> None:
    done = manage(tmp_path, PRODUCTION, "check", "--deploy", "--fail-level", "WARNING")
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("SECRET_KEY", "", "Setting SECRET_KEY is missing: set it to"),
        ("SECRET_KEY", "short", "Setting SECRET_KEY has only 5 characters: set it to"),
        ("DATABASE_URL", "", "Setting DATABASE_URL is missing: set it to postgresql://"),
        ("DATABASE_URL", "sqlite:///x", "Setting DATABASE_URL is not a PostgreSQL address: write"),
        ("CELERY_BROKER_URL", "", "Setting CELERY_BROKER_URL is missing: set it to redis://"),
        ("ALLOWED_HOSTS", " , ", "Setting ALLOWED_HOSTS is missing: set it to the host names"),
        ("DEBUG", "true", "Setting DEBUG is on in production: leave it out."),
        ("DEBUG", "maybe", "Setting DEBUG is 'maybe': set it to true or false."),
        ("BEAT_SECONDS", "0", "Setting BEAT_SECONDS is '0': set it to a whole number"),
        ("CHARGEHAND_ENV", "prod", "Setting CHARGEHAND_ENV is 'prod': set it to local or"),
    ],
)
def test_a_wrong_setting_is_one_sentence_without_a_traceback(
    tmp_path: Path, name: str, value: str, sentence: str
) -> None:
    done = manage(tmp_path, {**PRODUCTION, name: value}, "check")
    assert done.returncode == 1
    assert done.stderr.startswith(sentence)
    assert len(done.stderr.splitlines()) == 1


def test_a_command_without_the_embedded_server_says_how_to_start_it(tmp_path: Path) -> None:
    done = manage(tmp_path, {}, "migrate")
    assert done.returncode == 1
    assert done.stderr.startswith("The embedded PostgreSQL is not running: start it with `make up`")
    assert len(done.stderr.splitlines()) == 1


def test_a_database_that_does_not_answer_is_named(tmp_path: Path) -> None:
    url = "postgresql://someone@127.0.0.1:1/none"
    done = manage(tmp_path, {"DATABASE_URL": url}, "migrate")
    assert done.returncode == 1
    assert done.stderr.startswith("The database of DATABASE_URL cannot be reached: ")
    assert "Traceback" not in done.stderr


def test_a_database_address_may_name_a_socket_folder_and_options() -> None:
    read = database("postgresql://me:p%40ss@%2Frun%2Fmy%20pg:5433/record?sslmode=require")
    assert read == {
        "NAME": "record",
        "USER": "me",
        "PASSWORD": "p@ss",
        "HOST": "/run/my pg",
        "PORT": "5433",
        "OPTIONS": {"sslmode": "require"},
    }


def test_a_generated_secret_is_kept_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "var" / "secret_key"
    first = kept_secret(path)
    assert len(first) >= 50
    assert kept_secret(path) == first
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["secret_key"]


def test_a_mail_server_is_read_from_one_address() -> None:
    server = mail("smtp://me:p%40ss@mail.example")
    assert server is not None
    assert (server.host, server.port, server.user, server.password) == (
        "mail.example",
        587,
        "me",
        "p@ss",
    )
    assert (server.tls, server.starttls) == (False, True)
    safe = mail("smtps://mail.example")
    assert safe is not None
    assert (safe.port, safe.tls, safe.starttls) == (465, True, False)
    assert mail("") is None


@pytest.mark.parametrize("url", ["mail.example", "http://mail.example", "smtp://", "smtp://a:b"])
def test_what_is_no_mail_server_is_refused_by_name(url: str) -> None:
    with pytest.raises(SystemExit, match="EMAIL_URL"):
        mail(url)


@pytest.mark.parametrize("url", ["desk.example.org", "ftp://a.example", "https://", "https://a b"])
def test_a_public_address_that_is_not_one_is_refused_by_name(url: str) -> None:
    with pytest.raises(SystemExit, match="PUBLIC_URL"):
        site(url)


def test_production_that_sends_mail_needs_its_public_address(tmp_path: Path) -> None:
    production = {**PRODUCTION, "EMAIL_URL": "smtp://mail.example"}
    done = manage(tmp_path, production, "check")
    assert done.returncode == 1
    assert done.stderr.startswith("Setting PUBLIC_URL is missing")
    named = {**production, "PUBLIC_URL": "https://desk.example.org"}
    assert manage(tmp_path, named, "check").returncode == 0


@pytest.mark.parametrize("content", [b"", b"\n", b"abc", b"\xff" * 40, b"\0" * 64])
def test_a_secret_that_was_lost_is_told_and_not_made_again(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "secret_key"
    path.write_bytes(content)
    with pytest.raises(SystemExit, match="holds no secret any more"):
        kept_secret(path)
    assert path.read_bytes() == content


def test_an_embedded_server_that_refuses_is_not_said_to_be_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    refused, down = OperationalError("refused"), OperationalError("down")
    why = 'FATAL:  database "chargehand" is not currently accepting connections'
    refused.__cause__ = psycopg.OperationalError(f"connection failed: {why}")
    down.__cause__ = psycopg.OperationalError("connection failed: No such file or directory")
    said = unreachable_database(refused)
    assert said == f"The embedded PostgreSQL takes no connection: connection failed: {why}"
    assert str(unreachable_database(down)).startswith("The embedded PostgreSQL is not running")
