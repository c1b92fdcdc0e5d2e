"""Checking the record as it stands, without disturbing anybody."""

from django.db import connection, transaction

from tasks_app.store.reads.invariants import find_violations


def check_record() -> dict[str, list[str]]:
    """Find broken invariants in one read-only snapshot: name of the invariant to its offenders."""
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        return find_violations()
