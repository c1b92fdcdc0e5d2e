"""Two connections and an explicit lock: the loser is seen to wait before the winner commits."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction

from tests.floor import Floor
from tests.waiting import wait_for


class Rival:
    """A call on a connection of its own, in a thread of its own."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.result: Any = None
        self.error: Exception | None = None
        self._call = call
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.result = self._call()
        except Exception as error:  # noqa: BLE001  handed to the test, which raises it
            self.error = error
        finally:
            connection.close()

    def join(self) -> Any:
        """Wait for its end; return its result or raise its error."""
        self._thread.join(20)
        assert not self._thread.is_alive(), "the rival never came back"
        if self.error is not None:
            raise self.error
        return self.result


def waiting_for_locks() -> int:
    """How many connections to this database wait for a lock."""
    with connection.cursor() as cursor:
        # Within a transaction the view is otherwise read once and kept.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        row = cursor.fetchone()
    return int(row[0]) if row else 0


@contextmanager
def holding(act: Callable[[], Any], rival: Callable[[], Any]) -> Iterator[Rival]:
    """Act in a transaction and commit only once the rival is seen to wait behind it."""
    with transaction.atomic():
        act()
        other = Rival(rival)
        wait_for(waiting_for_locks, "the rival to wait for the lock")
    yield other


@pytest.fixture
def floor(record: None) -> Iterator[Floor]:
    """A shop floor whose writes commit; the invariants hold after each race."""
    floor = Floor()
    yield floor
    floor.assert_invariants()
