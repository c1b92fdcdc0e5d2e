"""What the database says when it cannot serve, and what becomes of the connection."""

import pytest
from django.db import DatabaseError, OperationalError, close_old_connections, connection

from controlplane.postgresql.base import DatabaseWrapper

AWAY = [
    "25006",
    "25P03",
    "53000",
    "53100",
    "53200",
    "53300",
    "53400",
    "57P01",
    "57P02",
    "57P03",
    "57P05",
    "58000",
    "58030",
]
CONNECTION = ["08000", "08001", "08003", "08004", "08006", "08P01"]
NOT_AWAY = ["22003", "23505", "40001", "40P01", "42P01", "54000", "55P03", "57014", "XX000"]


def fail_with(state: str) -> None:
    """Have the server raise an error of a class."""
    with connection.cursor() as cursor:
        cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$")


def session() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


@pytest.mark.parametrize("state", [*AWAY, *CONNECTION])
def test_a_database_that_cannot_serve_is_an_operational_error_and_gets_a_new_connection(
    record: None, state: str
) -> None:
    # One that has reached its greatest age would be closed in any case.
    connection.close()
    before = session()
    with pytest.raises(OperationalError):
        fail_with(state)
    close_old_connections()
    assert session() != before


@pytest.mark.parametrize("state", NOT_AWAY)
def test_an_error_of_a_statement_costs_no_connection(record: None, state: str) -> None:
    # One that has reached its greatest age would be closed in any case.
    connection.close()
    before = session()
    with pytest.raises(DatabaseError):
        fail_with(state)
    close_old_connections()
    assert session() == before


def test_a_connection_of_the_pool_that_is_read_only_is_replaced(record: None) -> None:
    pooled = DatabaseWrapper(connection.settings_dict, "pooled")
    pooled.settings_dict = {
        **pooled.settings_dict,
        "CONN_MAX_AGE": 0,
        "OPTIONS": {**pooled.settings_dict["OPTIONS"], "pool": {"min_size": 1, "max_size": 2}},
    }
    try:
        with pooled.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = on")
        pooled.close()
        with pooled.cursor() as cursor:
            cursor.execute("SHOW transaction_read_only")
            assert cursor.fetchone() == ("off",)
    finally:
        pooled.close()
        pooled.close_pool()
