"""``manage.py submit-job``: one job from a file of JSON or YAML."""

import sys
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tasks_app.core.intake.payloads import parse_json
from tasks_app.core.jobs.plans import PLAN_LIMITS
from tasks_app.management.command_actor import command_line_actor
from tasks_app.management.yaml_documents import YamlRefused, read_yaml
from tasks_app.services.jobs.jobs import JobKeyTaken, PlanInvalid, submit_job

YAML: Final = frozenset({".yaml", ".yml"})
KEY_TAKEN: Final = 2
"""How it ends where the key is that of a job with another plan."""

MOST_BYTES: Final = 6 * PLAN_LIMITS.max_bytes


class Command(BaseCommand):
    """Submits the plan whole, or says everything that is wrong with it."""

    help = "Submit a job: a plan of steps in a .json or .yaml file. Its shape is in docs/jobs.md."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the file."""
        parser.add_argument("file", metavar="FILE", help="a plan; - reads JSON from standard input")
        parser.add_argument("--key", help="idempotency key: it never makes two jobs")
        parser.add_argument("--dry-run", action="store_true", help="check only")

    def handle(self, *args: Any, **options: Any) -> None:
        """Submit; the id alone goes to standard output, so that a script can take it from there."""
        plan = _read(options["file"])
        if options["key"] is not None and isinstance(plan, dict):
            plan["key"] = options["key"]
        dry_run = options["dry_run"]
        try:
            actor = command_line_actor().name
            submitted = submit_job(plan, submitted_by=actor, dry_run=dry_run)
        except PlanInvalid as invalid:
            code = KEY_TAKEN if isinstance(invalid, JobKeyTaken) else 1
            raise CommandError(_told(invalid), returncode=code) from invalid
        if dry_run:
            known = "" if submitted.created else f"; its key is on record, as job {submitted.id}"
            self.stderr.write(f"{len(plan['steps'])} steps, no fault{known}; nothing submitted")
            return
        self.stdout.write(str(submitted.id))
        if not submitted.created:
            self.stderr.write("that key was on record already; this is its job")


def _told(invalid: PlanInvalid) -> str:
    return "\n".join(["nothing was submitted:", *(f"  {fault}" for fault in invalid.faults)])


def _read(name: str) -> Any:
    try:
        text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(str(error)) from error
    if len(text) > MOST_BYTES:
        raise CommandError(f"{name} is larger than any plan may be")
    if Path(name).suffix.lower() in YAML:
        try:
            # Aliases are shared, not copied, and the check counts every value they stand for.
            return read_yaml(text)
        except YamlRefused as refused:
            raise CommandError(f"{name}: {refused}") from refused
    parsed = parse_json(text, PLAN_LIMITS)
    if parsed.faults:
        raise CommandError("\n".join(f"{name}: {fault}" for fault in parsed.faults))
    return parsed.value
