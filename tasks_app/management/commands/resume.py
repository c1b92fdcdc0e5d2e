"""``manage.py resume``: a kind, a worker or a job goes on."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tasks_app.management.command_actor import command_line_actor
from tasks_app.management.pause_commands import RESUME, add_arguments, carry_out
from tasks_app.services.actions.kind_holds import free_kind


class Command(BaseCommand):
    """A quarantine is ended only on demand: something took workers down."""

    help = "Resume a paused kind, worker or job; with --free, end a kind's quarantine too."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare what to resume."""
        add_arguments(parser)
        parser.add_argument("--free", action="store_true", help="of a kind: end its quarantine")

    def handle(self, *args: Any, **options: Any) -> None:
        """Resume it."""
        if options["free"] and options["what"] != "kind":
            raise CommandError("--free: only a kind is ever in quarantine")
        changed = carry_out(RESUME, options)
        freed = options["free"] and free_kind(
            options["name"], command_line_actor(), options["reason"]
        )
        self.stdout.write(
            "freed" if freed else "resumed" if changed else "nothing changed: it was not paused"
        )
