"""Everything of one copy on one machine: ``python -m controlplane.runner [--demo]``.

Starts the embedded PostgreSQL, migrates, makes the first login, and runs the lines of the Procfile,
each under a keeper, until Ctrl-C or SIGTERM. Nothing outlives it, not even when it is killed.
"""

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from honcho.environ import parse_procfile

from controlplane.announcement import Announcement
from controlplane.embedded import EmbeddedError, Place, Server, running
from controlplane.environment import ROOT, number, unreachable_database, var_folder
from controlplane.ports import FIRST_PORT, free_port
from controlplane.singleton import AlreadyRunning, only_one
from controlplane.stack import PostgresWatch, Stack

DEMO = (sys.executable, "-m", "examples.ticket_triage.demo")


def main() -> int:
    """Run until the end is asked for; return 0 then, also when another runner is at work here."""
    parser = argparse.ArgumentParser(prog="python -m controlplane.runner")
    parser.add_argument(
        "--demo", action="store_true", help="with three workers and a night of work"
    )
    demo: bool = parser.parse_args().demo
    os.chdir(ROOT)
    var = var_folder()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with only_one(var / "run.lock") as note, _database(var) as server:
            login = _prepare(var)
            port = free_port(number("PORT", FIRST_PORT, most=65_535))
            address = f"http://127.0.0.1:{port}"
            note(address)
            announcement = Announcement(address, login, DEMO if demo else None)
            _run(port, demo=demo, server=server, announcement=announcement)
    except AlreadyRunning as running_one:
        print(running_one)
    except KeyboardInterrupt:
        print("Ended before everything was running.", flush=True)
    except EmbeddedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextlib.contextmanager
def _database(var: Path) -> Iterator[Server | None]:
    """Have the embedded PostgreSQL running, unless the environment names another server."""
    if os.environ.get("DATABASE_URL"):
        yield None
        return
    place = Place(var / "postgres")
    if place.home != place.folder:
        print(f"User namespaces are refused here: PostgreSQL runs as nobody, in {place.home}.")
    print("Starting the embedded PostgreSQL ...", flush=True)
    with running(place.folder) as server:
        yield server


def _prepare(var: Path) -> str:
    """Bring the schema up to date and make the first login, in this process: one start less."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    import django
    from django.core.management import call_command
    from django.db import OperationalError, connections

    print("Bringing the database up to date ...", flush=True)
    django.setup()
    try:
        call_command("migrate", interactive=False, verbosity=1)
    except OperationalError as error:
        sentence = unreachable_database(error)
        if sentence is None:
            raise
        sys.exit(sentence)

    from controlplane.login import ensure_login

    login = ensure_login(var)
    connections.close_all()
    return login


def _run(port: int, *, demo: bool, server: Server | None, announcement: Announcement) -> None:
    """Run the lines of the Procfiles until the end is asked for."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    env = {**os.environ, "PATH": path, "PORT": str(port), "PYTHONUNBUFFERED": "1"}
    helpers = [announcement.run]
    if server is not None:
        helpers.append(PostgresWatch(server).run)
    stack = Stack(helpers)
    for procfile in ("Procfile", "Procfile.demo") if demo else ("Procfile",):
        for name in parse_procfile((ROOT / procfile).read_text()).processes:
            stack.add(procfile, name, env)
    stack.run()


if __name__ == "__main__":
    sys.exit(main())
