"""``manage.py pause``: nothing more of a kind or a job is handed out, or a worker drains."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tasks_app.management.pause_commands import PAUSE, add_arguments, carry_out
from tasks_app.services.actions.kind_holds import quarantine_kind


class Command(BaseCommand):
    """What has begun goes on; what a worker has not begun goes back to the queue."""

    help = "Pause a kind, a worker (it drains) or a job; tasks that have begun go on."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare what to pause."""
        add_arguments(parser)
        parser.add_argument(
            "--quarantine", action="store_true", help="of a kind: until somebody frees it"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Pause it."""
        if options["quarantine"]:
            self._quarantine(options)
            return
        changed = carry_out(PAUSE, options)
        self.stdout.write("paused" if changed else "nothing changed: it was paused, or has ended")

    def _quarantine(self, options: dict[str, Any]) -> None:
        if options["what"] != "kind":
            raise CommandError("--quarantine: only a kind is ever in quarantine")
        changed = carry_out({"kind": quarantine_kind}, options)
        self.stdout.write("in quarantine" if changed else "nothing changed: it is there already")
