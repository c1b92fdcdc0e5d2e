"""Which errors mean that the database cannot serve now, whatever it was asked."""

from types import TracebackType
from typing import Any, Final

import psycopg
from django.db import OperationalError
from django.db.utils import DatabaseErrorWrapper

# Connection exceptions, insufficient resources, operator intervention, errors of the system.
CLASSES: Final = ("08", "53", "57P", "58")
# Read-only (a fail-over, a standby, a full disk), and sessions that the server ended because they
# stood too long in a transaction.
STATES: Final = frozenset({"25006", "25P03", "25P04"})
READ_ONLY: Final = "25006"


def is_away(error: BaseException | None) -> bool:
    """Whether an error of psycopg says that the database cannot serve, whatever it is asked.

    >>> is_away(psycopg.errors.ReadOnlySqlTransaction()), is_away(psycopg.errors.DiskFull())
    (True, True)
    >>> is_away(psycopg.OperationalError("connection refused")), is_away(psycopg.DataError())
    (True, False)
    >>> is_away(psycopg.errors.QueryCanceled()), is_away(ValueError())
    (False, False)
    """
    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate is None:
        # No server has answered, or it has gone.
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate in STATES or error.sqlstate.startswith(CLASSES)


class OutageWrapper(DatabaseErrorWrapper):
    """Raises all of them as OperationalError, and has the connection closed behind them.

    psycopg calls a read-only database an InternalError, as it does a fault of the server's own: who
    waits for a database that comes back would have to know the SQLSTATEs. And a session that is
    read-only, or was begun on a server that is a standby now, answers ``SELECT 1`` for ever: only
    a new one finds the server that accepts writes.
    """

    wrapper: Any

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Translate the error of a block, if it had one."""
        if error is not None and is_away(error):
            self.wrapper.errors_occurred = True
            self.wrapper.doom()
            raise OperationalError(*error.args).with_traceback(trace) from error
        super().__exit__(kind, error, trace)


def is_read_only(connection: "psycopg.Connection[Any]") -> bool:
    """Whether a session refuses to write; the server has told both without being asked."""
    told = connection.info.parameter_status
    return "on" in (told("default_transaction_read_only"), told("in_hot_standby"))
