"""A database of its own that was only migrated, beside the test database."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from controlplane.embedded import Server
from controlplane.environment import ROOT


def manage(url: str, *command: str) -> str:
    """The standard output of a command on another database."""
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@contextmanager
def migrated_database(server: Server, name: str) -> Iterator[str]:
    """Make a database, migrate it, and drop it in the end; its address."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        admin.execute(f"CREATE DATABASE {name}")
        manage(server.url(name), "migrate", "--verbosity", "0")
        yield server.url(name)
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
