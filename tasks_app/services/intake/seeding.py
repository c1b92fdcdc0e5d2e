"""A large made-up record, to see how the screens do on one."""

import json
from collections.abc import Callable
from typing import Final
from uuid import UUID

from tasks_app.core.facts import ErrorFacts
from tasks_app.core.failures.fingerprints import key_of
from tasks_app.core.states import DeadReason
from tasks_app.models.ids import new_id
from tasks_app.services.dispatch.sampler import FOLD_LIMIT
from tasks_app.services.jobs.jobs import submit_job
from tasks_app.services.transactions import transactional
from tasks_app.store import workers
from tasks_app.store.dispatch import sampling
from tasks_app.store.intake import seeding

KINDS: Final = (
    "classify_ticket",
    "import_row",
    "render_report",
    "resize_image",
    "send_invoice",
    "sync_contact",
)
ERRORS: Final = tuple(
    (kind, f"{what} while {doing}")
    for kind, what in (
        ("httpx.ReadTimeout", "no answer"),
        ("builtins.KeyError", "a field is missing"),
        ("builtins.ValueError", "no such currency"),
        ("psycopg.OperationalError", "the server closed the connection"),
        ("PIL.UnidentifiedImageError", "cannot identify the image"),
    )
    for doing in ("reading", "writing", "looking up the customer", "sending")
)
LIVE: Final = 12
PAST: Final = 60
SLOTS: Final = 8
RUNNING: Final = 60
CHUNK: Final = 50_000
"""Tasks in one transaction."""
JOBS_IN: Final = 10_000
"""One job under way for so many tasks."""


def seed(tasks: int, told: Callable[[int], object] = lambda _: None) -> None:
    """Invent a month with so many tasks; ``told`` hears how many stand after each transaction."""
    hired = [_hire(f"w{number:02}", gone=False) for number in range(LIVE)]
    left = [_hire(f"old{number:02}", gone=True) for number in range(PAST)]
    errors = [json.dumps(ErrorFacts(kind, text).as_json()) for kind, text in ERRORS]
    for first in range(1, tasks + 1, CHUNK):
        last = min(first + CHUNK - 1, tasks)
        _make(first, last, tasks, [*hired, *left], errors)
        told(last)
    _start(hired)
    for number in range(tasks // JOBS_IN):
        _submit(number)
    seeding.make_samples()
    while sampling.fold_deltas(FOLD_LIMIT):
        pass
    seeding.analyse()


@transactional
def _hire(name: str, *, gone: bool) -> UUID:
    worker = new_id()
    skills = dict.fromkeys(KINDS, 1.0)
    workers.register(
        worker, name=name, host="seeded", pid=1, version="1.0", slots=SLOTS, skills=skills
    )
    if gone:
        workers.stop(worker)
    return worker


@transactional
def _make(first: int, last: int, total: int, known: list[UUID], errors: list[str]) -> None:
    keys = [key_of(error, DeadReason.EXHAUSTED) or "" for error in errors]
    seeding.make_tasks(
        first, last, total, kinds=KINDS, workers=known, errors=errors, fingerprints=keys
    )


@transactional
def _start(hired: list[UUID]) -> None:
    seeding.start_some(RUNNING, hired)


def _submit(number: int) -> None:
    """A job of four steps that are on their way."""
    steps = [
        {"name": "import", "kind": "import_row", "payload": {"row": number}},
        {"name": "classify", "kind": "classify_ticket", "depends_on": ["import"]},
        {"name": "render", "kind": "render_report", "depends_on": ["import"]},
        {"name": "send", "kind": "send_invoice", "depends_on": ["classify", "render"]},
    ]
    submit_job({"name": f"night run {number}", "steps": steps}, submitted_by="seed-load")
