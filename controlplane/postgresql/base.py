"""The backend as Django looks for it: a module ``base`` with a class ``DatabaseWrapper``."""

from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool


class DatabaseWrapper(base.DatabaseWrapper):
    """Takes one dead connection of the pool as a sign that all which idle beside it are dead."""

    pool: ConnectionPool[Any] | None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Take a connection that answers, from the pool where there is one.

        The pool's own check discards one dead connection after the other, with a pause before each
        further one that doubles from 1 s. Three that idled through a restart of the server were
        more than a request waits, so that it was refused though the server had long been back.
        """
        connection = super().get_new_connection(conn_params)
        if self.pool is None or _answers(connection):
            return connection
        self.pool.putconn(connection)
        self.pool.drain()
        return super().get_new_connection(conn_params)


def _answers(connection: "psycopg.Connection[Any]") -> bool:
    try:
        ConnectionPool.check_connection(connection)
    except psycopg.OperationalError:
        return False
    return True
