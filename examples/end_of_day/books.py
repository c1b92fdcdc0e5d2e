"""The books that the handlers write, in the example's own database.

``invoice_line`` and ``book_entry`` only grow and have no unique constraint, which would hide what
they are there to show. ``effect_key`` holds each key of an effect once.
"""

from collections.abc import Callable
from typing import Final

from django.db import connection, transaction

TABLES: Final = """
CREATE TABLE invoice_line (seller text NOT NULL, amount numeric NOT NULL, key text NOT NULL,
                           written_at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE book_entry (seller text NOT NULL, entry text NOT NULL, key text NOT NULL,
                         written_at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE effect_key (key text PRIMARY KEY);
"""

CLAIM_KEY: Final = "INSERT INTO effect_key (key) VALUES (%s) ON CONFLICT DO NOTHING"
WRITE_LINE: Final = "INSERT INTO invoice_line (seller, amount, key) VALUES (%s, %s, %s)"
WRITE_ENTRY: Final = "INSERT INTO book_entry (seller, entry, key) VALUES (%s, %s, %s)"
COUNT_DUPLICATES: Final = """
SELECT coalesce(sum(n - 1), 0) FROM (
    SELECT count(*) AS n FROM invoice_line WHERE amount > 0 GROUP BY seller) lines
"""


def open_books() -> None:
    """Make the tables."""
    with connection.cursor() as cursor:
        cursor.execute(TABLES)


def once(key: str, write: Callable[[], None]) -> bool:
    """Write unless the key was used before; False when it was.

    Key and effect stand or fall together: a second attempt that comes while the first still
    writes waits for it.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(CLAIM_KEY, [key])
        if not cursor.rowcount:
            return False
        write()
        return True


def write_invoice_line(seller: str, amount: float, key: str) -> None:
    """Add a line to a seller's invoice; a credit has a negative amount."""
    with connection.cursor() as cursor:
        cursor.execute(WRITE_LINE, [seller, amount, key])


def write_entry(seller: str, entry: str, key: str) -> None:
    """Note what was done for a seller."""
    with connection.cursor() as cursor:
        cursor.execute(WRITE_ENTRY, [seller, entry, key])


def count_duplicate_lines() -> int:
    """Count the invoice lines that stand there although the seller had one already."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT_DUPLICATES)
        return int(cursor.fetchone()[0])
