"""``manage.py search-indexes``: the indexes of searchable payload paths, put right."""

from typing import Any

from django.core.management.base import BaseCommand

from tasks_app.services.intake.search_indexes import sync_search_indexes


class Command(BaseCommand):
    """Saving a kind does it too; this is for what a crash interrupted."""

    help = "Make the indexes of the payload paths that kinds declare searchable, and drop others."

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and say what was done."""
        made, dropped = sync_search_indexes()
        self.stdout.write(f"{made} made, {dropped} dropped")
