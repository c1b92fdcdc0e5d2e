"""The database connections of handlers: tried before a task, bounded when idle, waited for."""

import logging
from typing import Final

import django
from django.db import DatabaseError, close_old_connections, connections

logger: Final = logging.getLogger(__name__)

KEPT: Final = 4
"""Slots of a worker whose connection stays open between tasks; to connect anew costs some
milliseconds. The others close theirs, so that a worker with many slots holds few idle ones."""

PATIENCE: Final = 30.0
"""Seconds that a handler waits for a connection while the database has none left."""


def wait_for_connections() -> None:
    """Have this process wait for a connection, where a refused one would fail a task."""
    connections.settings["default"]["PATIENCE"] = PATIENCE


def set_up_child() -> None:
    """Prepare a child process before its handlers are imported."""
    django.setup()
    wait_for_connections()


def before_handler() -> None:
    """Drop the connection of this thread if it has died since the last task."""
    close_old_connections()


def after_handler() -> None:
    """Close the connections of this thread."""
    for connection in connections.all(initialized_only=True):
        try:
            connection.close()
        except DatabaseError as error:
            # The handler's result counts; a connection that cannot even be closed is gone.
            logger.warning("a handler's connection could not be closed: %s", error)
