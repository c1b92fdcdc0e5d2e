"""``manage.py cancel``: the tasks that a query finds, or a whole job."""

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tasks_app.core.actions.bulks import HOLD_SECONDS, BulkAction, BulkOrder
from tasks_app.management.command_actor import command_line_actor
from tasks_app.services.actions.bulks import NARROW, OrderInvalid
from tasks_app.services.jobs.jobs import cancel_job
from tasks_app.services.search.found_tasks import begin_found, look, read_words
from tasks_app.store.reads.actions.kind_holds import job_exists


class Command(BaseCommand):
    """Tasks are cancelled by a bulk, held for ten seconds: the page of bulks can undo it."""

    help = "Cancel the tasks that a query finds (as on the page of tasks), or a whole job."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare what to cancel and why."""
        parser.add_argument("what", choices=["tasks", "job"])
        parser.add_argument("which", metavar="QUERY|JOB", help="such as 'kind:draft age:>1h'")
        parser.add_argument("--reason", required=True, help="why, for the audit")
        parser.add_argument("--dry-run", action="store_true", help="of tasks: count them only")

    def handle(self, *args: Any, **options: Any) -> None:
        """Cancel it."""
        if options["what"] == "job":
            self._cancel_job(options["which"], options["reason"])
            return
        order = BulkOrder(BulkAction.CANCEL, options["reason"])
        try:
            read = read_words(options["which"], sees_payloads=True)
            if options["dry_run"]:
                found = look(order.action, read.wanted)
                self._tell(len(found.ids), "would be cancelled", found.more)
                return
            bulk = begin_found(order, read, command_line_actor())
        except OrderInvalid as invalid:
            raise CommandError("; ".join(map(str, invalid.faults))) from invalid
        except TimeoutError as late:
            raise CommandError(f"{late}; {NARROW}") from late
        self._tell(bulk.total if bulk else 0, f"will be cancelled in {HOLD_SECONDS:.0f} seconds")
        if bulk:
            self.stdout.write(f"bulk {bulk.id}")

    def _cancel_job(self, text: str, reason: str) -> None:
        try:
            job_id = UUID(text)
        except ValueError as error:
            raise CommandError(f"{text!r} is no id of a job") from error
        if not job_exists(job_id):
            raise CommandError(f"there is no job {job_id}")
        done = cancel_job(job_id, command_line_actor(), reason)
        self.stdout.write("asked to end" if done else "nothing changed: it has ended, or goes back")

    def _tell(self, count: int, verb: str, more: bool = False) -> None:
        least = "more than " if more else ""
        self.stdout.write(f"{least}{count:,} task{'' if count == 1 else 's'} {verb}")
