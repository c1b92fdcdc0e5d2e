"""Where benchmarks run: a PostgreSQL of their own, with fsync, and processes that end with them."""

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

from controlplane.embedded import Server, running
from controlplane.environment import ROOT
from controlplane.tether import tethered

SERVER: Final[Mapping[str, str]] = {
    "shared_buffers": "512MB",
    "max_wal_size": "4GB",
    "fsync": "on",
    "synchronous_commit": "on",
}
PATIENCE: Final = 20.0
"""Seconds that a process may take to end when it is asked to."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The server of one run and the folder that everything of it lies in."""

    server: Server
    folder: Path

    def url(self, name: str) -> str:
        """The address of one of its databases."""
        return self.server.url(name)

    def create(self, name: str) -> str:
        """Make an empty database, in the place of one of that name; return its address."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            named = sql.Identifier(name)
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} (FORCE)").format(named))
            connection.execute(sql.SQL("CREATE DATABASE {}").format(named))
        return self.url(name)

    def settle(self) -> None:
        """Write out what earlier runs left in memory, so that this one does not pay for it."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute("CHECKPOINT")

    @contextmanager
    def process(self, *words: str) -> Iterator["subprocess.Popen[str]"]:
        """A Python process of the project, asked to end with the block; its output is a pipe."""
        process = subprocess.Popen(
            tethered(signal.SIGTERM, [sys.executable, *words]),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            yield process
        finally:
            end(process)


def end(process: "subprocess.Popen[str]") -> str:
    """Ask a process to end, insist after a while, and return what it printed."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        return process.communicate(timeout=PATIENCE)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    except ValueError:
        return ""  # its output was read already


@contextmanager
def stage(settings: Mapping[str, str] | None = None) -> Iterator[Stage]:
    """Have a server running on a folder that is removed with the block.

    Sets DATABASE_URL and CHARGEHAND_VAR, for this process and those it starts: Django must not have
    been set up before.
    """
    with tempfile.TemporaryDirectory(prefix="chargehand-benchmark-") as name:
        folder = Path(name)
        with running(folder / "postgres", {**SERVER, **(settings or {})}) as server:
            made = Stage(server, folder)
            os.environ["CHARGEHAND_VAR"] = name
            os.environ["DATABASE_URL"] = made.create("chargehand")
            os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"
            yield made


def set_up() -> None:
    """Begin Django on the stage's database and make its tables."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def machine(made: Stage) -> dict[str, Any]:
    """What the figures stand on."""
    with psycopg.connect(made.url("postgres")) as connection:
        found = connection.execute("SHOW server_version").fetchone()
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {
        "processor": model,
        "processors": os.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "postgresql": found[0] if found else "unknown",
        "niceness": os.nice(0),
    }


def last_json(output: str) -> Any:
    """What a process reported in the last line that it printed."""
    return json.loads(output.strip().splitlines()[-1])


def show(title: str, head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table in columns."""
    widths = [max(len(row[place]) for row in (head, *lines)) for place in range(len(head))]
    print(f"\n{title}")
    for row in (head, *lines):
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )
