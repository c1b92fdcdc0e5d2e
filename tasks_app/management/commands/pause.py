"""``manage.py pause``: nothing more of a kind or a job is handed out, or a worker drains."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from tasks_app.management.holding import PAUSE, add_arguments, carry_out


class Command(BaseCommand):
    """What is in flight goes on; what a worker has not begun goes to others."""

    help = "Pause a kind, a worker (it drains) or a job; what is in flight goes on."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare what to pause."""
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Pause it."""
        changed = carry_out(PAUSE, options)
        self.stdout.write("paused" if changed else "nothing changed: it was paused, or has ended")
