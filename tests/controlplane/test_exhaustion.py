"""A database that has no connection left."""

import psycopg
import pytest

from controlplane.postgresql.exhaustion import connected
from controlplane.postgresql.outages import is_away


class Door:
    """Refuses the first callers."""

    def __init__(self, refusals: int, words: str) -> None:
        self.left = refusals
        self.words = words
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.left:
            raise psycopg.OperationalError(self.words)
        return "connected"


@pytest.mark.parametrize(
    "words",
    [
        "connection failed: FATAL:  sorry, too many clients already",
        "FATAL:  remaining connection slots are reserved for roles with SUPERUSER",
        'FATAL:  too many connections for role "app"',
        'FATAL:  too many connections for database "app"',
        "FATAL:  no more connections allowed (max_client_conn)",
    ],
)
def test_whoever_has_patience_waits_for_a_connection_and_others_are_told_the_remedy(
    words: str,
) -> None:
    assert connected(Door(3, words), patience=30.0) == "connected"
    with pytest.raises(psycopg.OperationalError) as refused:
        connected(Door(1, words), patience=0.0)
    assert words.strip() in str(refused.value)
    assert "max_connections" in str(refused.value)
    assert "--slots" in str(refused.value)
    assert is_away(refused.value)


def test_another_refusal_is_not_waited_for() -> None:
    door = Door(1, "FATAL:  password authentication failed")
    with pytest.raises(psycopg.OperationalError, match="password"):
        connected(door, patience=30.0)
    assert door.calls == 1
