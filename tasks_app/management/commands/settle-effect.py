"""``manage.py settle-effect``: a human says what became of an effect that was left in doubt."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tasks_app.core.sanitise import sanitise
from tasks_app.management.arguments import json_value, task_id
from tasks_app.management.command_actor import command_line_actor
from tasks_app.services.attempts.effects import NotInDoubt, settle_effect


class Command(BaseCommand):
    """Records the finding; the task is requeued afterwards, in the browser or the same way."""

    help = (
        "Say whether an effect happened that a task began and never recorded (UnsureEffect). "
        "The next attempt takes its result as recorded, or does it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare which effect, what was found, and how one knows."""
        parser.add_argument("task", metavar="TASK", type=task_id, help="the id of the task")
        parser.add_argument("effect", metavar="EFFECT", help="its name, such as send-reply")
        parser.add_argument("finding", choices=["happened", "undone"])
        parser.add_argument("--reason", required=True, help="how you know; kept in the audit")
        parser.add_argument(
            "--result",
            type=json_value,
            metavar="JSON",
            help="of one that happened: what its function would have returned (default: null)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Settle one effect."""
        happened = options["finding"] == "happened"
        if options["result"] is not None and not happened:
            raise CommandError("--result: an effect that is undone has none")
        try:
            settle_effect(
                options["task"],
                options["effect"],
                command_line_actor(),
                options["reason"],
                happened=happened,
                result=sanitise(options["result"]),
            )
        except (NotInDoubt, ValueError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"settled as {options['finding']}; requeue the task to go on")
