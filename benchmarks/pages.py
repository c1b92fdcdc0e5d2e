"""``python -m benchmarks.pages``: how soon each page answers on a large record.

A web process as in production, asked one page after the other; first byte from the request's last.
"""

import argparse
import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from statistics import median, quantiles
from typing import Any, Final

import httpx

from benchmarks.stage import Stage, machine, set_up, show, stage

NAME: Final = "benchmark"
TARGET_MS: Final = 100.0
START_SECONDS: Final = 60.0

ONE_OF: Final = {
    "completed": "SELECT id FROM task WHERE status = 'COMPLETED' ORDER BY id DESC LIMIT 1",
    "dead": "SELECT id FROM task WHERE status = 'DEAD' ORDER BY finished_at DESC LIMIT 1",
    "running": "SELECT task_id FROM lease ORDER BY token LIMIT 1",
    "pending": "SELECT id FROM task WHERE status = 'PENDING' AND waiting_on = 0 LIMIT 1",
    "group": "SELECT fingerprint FROM task WHERE status = 'DEAD' LIMIT 1",
    "worker": "SELECT id FROM worker WHERE state = 'active' ORDER BY name LIMIT 1",
    "job": "SELECT id FROM job ORDER BY id DESC LIMIT 1",
}


SEARCHES: Final[Mapping[str, str]] = {
    "tasks": "",
    "tasks of a status": "?q=status:dead",
    "tasks of a kind": "?q=kind:send_invoice",
    "tasks of a kind and status": "?q=status:completed kind:import_row",
    "tasks of a worker": "?q=worker:w03",
    "tasks by text": '?q="order 4711"',
    "tasks by key": "?q=key:order-4710",
    "tasks by error": "?q=error:KeyError",
    "tasks by payload": "?q=payload.customer.id:42",
    "tasks by age": "?q=age:>1h attempts:>=2",
    "tasks of either": "?q=status:dead kind:import_row OR status:running",
    "tasks without": "?q=status:dead -kind:import_row priority:<0",
    "tasks by result": "?q=result.label:spam",
    "tasks, the longest first": "?sort=duration",
    "tasks, the most attempts": "?q=status:completed&sort=attempts",
}
"""Lists of tasks by what they show, each with its query."""


def addresses() -> Mapping[str, str]:
    """Each page by what it shows."""
    from tasks_app.store import sql

    found = {name: str((sql.row(query) or ("none",))[0]) for name, query in ONE_OF.items()}
    return {
        "overview": "/",
        "series, 5 minutes": "/series/?range=5m",
        "series, a day": "/series/?range=24h",
        "series, 30 days": "/series/?range=30d",
        **{name: f"/tasks/{query}" for name, query in SEARCHES.items()},
        "tasks of a cause": f"/tasks/?q=cause:{found['group']}",
        "task, completed": f"/tasks/{found['completed']}/",
        "task, dead": f"/tasks/{found['dead']}/",
        "task, running": f"/tasks/{found['running']}/",
        "task, pending": f"/tasks/{found['pending']}/",
        "dead letters": "/dead-letters/",
        "dead letters, a group": f"/dead-letters/{found['group']}/",
        "workers": "/workers/",
        "worker": f"/workers/{found['worker']}/",
        "jobs": "/jobs/",
        "job": f"/jobs/{found['job']}/",
        "inbox": "/inbox/",
        "kinds": "/kinds/",
        "kinds, waits and run times": "/kinds/times/",
        "supervisor": "/supervisor/",
        "bulk acts": "/acts/",
        "audit": "/audit/",
        "searches": "/tasks/searches/",
        "account": "/account/",
    }


def sign_in() -> str:
    """Make an admin and a session of theirs; return its key."""
    from django.contrib.auth import get_user_model
    from django.test import Client

    user = get_user_model().objects.create_superuser(NAME, password=None)
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    return client.cookies["sessionid"].value


def queries_of(pages: Mapping[str, str], session: str) -> dict[str, int]:
    """How many statements each page sends, asked in this process."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(headers={"host": "localhost"})
    client.cookies["sessionid"] = session
    found = {}
    for name, address in pages.items():
        with CaptureQueriesContext(connection) as sent:
            client.get(address)
        found[name] = len(sent)
    return found


@contextlib.contextmanager
def web(made: Stage) -> Iterator[str]:
    """A web process, for as long as the block; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ["DATABASE_POOL"] = "true"
    address = f"http://127.0.0.1:{port}"
    words = ("-m", "daphne", "--bind", "127.0.0.1", "--port", str(port), "--verbosity", "0")
    with made.process(*words, "controlplane.asgi:application"):
        give_up = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{address}/healthz").status_code == httpx.codes.OK:
                    break
            if time.monotonic() > give_up:
                raise TimeoutError("the web process does not answer")
            time.sleep(0.1)
        yield address


def milliseconds(client: httpx.Client, address: str, samples: int) -> list[float]:
    """First bytes of so many answers, after one that warms up."""
    found = []
    for _ in range(samples + 1):
        began = time.perf_counter()
        with client.stream("GET", address) as answer:
            found.append(1000 * (time.perf_counter() - began))
            answer.raise_for_status()
            answer.read()
    return found[1:]


def measure(made: Stage, samples: int) -> dict[str, Any]:
    """Every page, with its queries and its p50 and p95."""
    pages, session = addresses(), sign_in()
    queries = queries_of(pages, session)
    report = {}
    with web(made) as address:
        for name, page in pages.items():
            # Signed in anew for each: a client that asks forever would end its own session.
            with httpx.Client(base_url=address, cookies={"sessionid": session}) as client:
                found = milliseconds(client, page, samples)
            p95 = quantiles(found, n=20)[18]
            report[name] = {
                "queries": queries[name],
                "p50_ms": round(median(found), 1),
                "p95_ms": round(p95, 1),
            }
    return report


def main() -> None:
    """Seed a record, ask for every page, show and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.add_argument("--tasks", type=int, default=1_000_000, help="default: %(default)s")
    parser.add_argument("--samples", type=int, default=40, help="of each page (%(default)s)")
    asked = parser.parse_args()
    aside = contextlib.redirect_stdout(sys.stderr) if asked.json else contextlib.nullcontext()
    with aside, stage() as made:
        set_up()
        from django.core.management import call_command

        call_command("seed-load", tasks=asked.tasks)
        report = {"machine": machine(made), "tasks": asked.tasks}
        pages = report["pages"] = measure(made, asked.samples)
        lines = [
            [name, *map(str, each.values()), "" if each["p95_ms"] <= TARGET_MS else "slow"]
            for name, each in pages.items()
        ]
        show(f"Pages on {asked.tasks:,} tasks", ("page", "queries", "p50", "p95, ms", ""), lines)
    if asked.json:
        print(json.dumps(report))


if __name__ == "__main__":
    main()
