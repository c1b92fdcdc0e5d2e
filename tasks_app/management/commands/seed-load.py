"""``manage.py seed-load``: a large made-up record, to see how the screens do on one."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from tasks_app.management.arguments import whole_number
from tasks_app.services.intake.seeding import seed
from tasks_app.store.reads.dispatch.counts import count_by_status


class Command(BaseCommand):
    """Fills an empty record with a month of tasks, attempts, workers, jobs and samples."""

    help = "Fill an empty record with a made-up month, to try the screens on a large one."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the size."""
        parser.add_argument(
            "--tasks",
            type=whole_number(1),
            default=1_000_000,
            help="how many (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Refuse a record that holds anything, for what is made up cannot be told apart."""
        tasks = options["tasks"]
        if any(count_by_status().values()):
            raise CommandError(
                "the record holds tasks already: give seed-load an empty database of its own "
                "(DATABASE_URL, or another CHARGEHAND_VAR)"
            )
        with tqdm(total=tasks, unit=" tasks", disable=None) as bar:
            seed(tasks, lambda made: bar.update(made - bar.n))
        self.stdout.write(f"{tasks:,} tasks are on record.")
