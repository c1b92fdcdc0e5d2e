"""What ``manage.py pause`` and ``manage.py resume`` do to kinds, workers and jobs."""

from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from tasks_app.management.command_actor import command_line_actor
from tasks_app.services.actions import kind_holds, operations
from tasks_app.services.jobs import jobs
from tasks_app.services.people.people import Actor
from tasks_app.store.reads.actions.kind_holds import job_exists, kind_exists, live_worker

Act = Callable[[Any, Actor, str], bool]

PAUSE: Final[Mapping[str, Act]] = {
    "kind": kind_holds.pause_kind,
    "worker": operations.drain_worker,
    "job": jobs.pause_job,
}
RESUME: Final[Mapping[str, Act]] = {
    "kind": kind_holds.resume_kind,
    "worker": operations.resume_worker,
    "job": jobs.resume_job,
}


def add_arguments(parser: CommandParser) -> None:
    """Declare what is meant and why."""
    parser.add_argument("what", choices=sorted(PAUSE))
    parser.add_argument(
        "name", metavar="NAME", help="a kind's name, a live worker's name or id, a job's id"
    )
    parser.add_argument("--reason", default="", help="why, for the audit")


def carry_out(acts: Mapping[str, Act], options: Mapping[str, Any]) -> bool:
    """Do it; False when nothing changed. Raises CommandError for what is not there."""
    what = options["what"]
    return acts[what](_found(what, options["name"]), command_line_actor(), options["reason"])


def _found(what: str, name: str) -> str | UUID:
    if what == "kind" and kind_exists(name):
        return name
    if what == "worker" and (worker := live_worker(name)):
        return worker
    if what == "job":
        try:
            job_id = UUID(name)
        except ValueError as error:
            raise CommandError(
                f"{name!r} is no id of a job; its page and the API show it"
            ) from error
        if job_exists(job_id):
            return job_id
    raise CommandError(f"there is no {'live ' if what == 'worker' else ''}{what} {name!r}")
