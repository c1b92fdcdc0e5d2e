"""``manage.py prepare-restore``: a migrated database that takes a dump of data alone."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tasks_app.services.settings.restoring import NotNew, prepare_restore


class Command(BaseCommand):
    """Only for a database that was migrated and never used; docs/deployment.md has the rest."""

    help = "Empty what migrations put into a new database, before pg_restore --data-only."

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, or say why not."""
        try:
            emptied = prepare_restore()
        except NotNew as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{emptied} tables are empty: restore the data now, then audit-verify")
