"""The backend as Django looks for it: a module ``base`` with a class ``DatabaseWrapper``."""

from typing import Any

import psycopg
from django.db.backends.postgresql import base
from django.utils.functional import cached_property
from psycopg_pool import ConnectionPool

from controlplane.postgresql.exhaustion import connected
from controlplane.postgresql.outages import OutageWrapper, is_away, is_read_only
from controlplane.postgresql.startup_options import Looker

_looker = Looker()


class DatabaseWrapper(base.DatabaseWrapper):
    """Never keeps a connection by which the database said that it cannot serve, nor its like."""

    pool: ConnectionPool[Any] | None
    _doomed = False

    @cached_property
    def wrap_database_errors(self) -> OutageWrapper:
        """Tells every outage by one class of error."""
        return OutageWrapper(self)

    def doom(self) -> None:
        """Close the connection of this moment at the next opportunity, also if it still answers."""
        self._doomed = self.connection is not None

    def is_usable(self) -> bool:
        """Whether to go on with the connection."""
        return not self._doomed and bool(super().is_usable())

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Take a connection that answers, from the pool where there is one.

        The pool's own check discards one dead connection after the other, with a pause before each
        further one that doubles from 1 s. Three that idled through a restart of the server were
        more than a request waits, so that it was refused though the server had long been back. And
        it takes a read-only one for good, though the server may accept writes from new ones again.
        """
        self._doomed = False
        patience = float(self.settings_dict.get("PATIENCE", 0.0))
        connection = connected(lambda: self._connection(conn_params), patience)
        if self.pool is None or _serves(connection):
            return connection
        connection.close()
        self.pool.putconn(connection)
        self.pool.drain()
        return super().get_new_connection(conn_params)

    def _connection(self, conn_params: dict[str, Any]) -> Any:
        return super().get_new_connection(conn_params)

    def init_connection_state(self) -> None:
        """Prepare a new connection; the first of a process is asked what it was given."""
        super().init_connection_state()
        assert self.connection is not None
        _looker.look(self.connection, self.get_connection_params())

    def _close(self) -> None:
        if self._doomed and self.connection is not None:
            self._doomed = False
            # Closed before it goes back, or the pool would hand it out again; those that idle
            # beside it were made by the same server at the same time.
            self.connection.close()
            if self.pool is not None:
                self.pool.drain()
        super()._close()  # type: ignore[misc]  # the stubs leave it out


def _serves(connection: "psycopg.Connection[Any]") -> bool:
    try:
        ConnectionPool.check_connection(connection)
    except psycopg.Error as error:
        if not is_away(error):
            raise
        return False
    return not is_read_only(connection)
