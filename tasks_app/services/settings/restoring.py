"""Making a migrated database ready for a dump of data alone."""

from tasks_app.core.words import say
from tasks_app.services.transactions import transactional
from tasks_app.store.settings import restoring


class NotNew(ValueError):
    """The database has been used; nothing of it was touched."""


@transactional
def prepare_restore() -> int:
    """Empty what migrations have filled; how many tables that is. Raises NotNew."""
    used = restoring.used_tables()
    if used:
        raise NotNew(
            say(
                "this database has been used (%(tables)s): restore into one that is only migrated",
                tables=", ".join(used),
            )
        )
    return restoring.empty_tables()
