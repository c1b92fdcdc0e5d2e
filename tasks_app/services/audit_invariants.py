"""Checking the record as it stands, without disturbing anybody."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from tasks_app.store.reads.invariants.record_invariants import find_violations
from tasks_app.store.reads.people.audit import ChainReport, check_chain


def check_record() -> dict[str, list[str]]:
    """Find broken invariants in one read-only snapshot: name of the invariant to its offenders."""
    with _one_snapshot():
        return find_violations()


def check_audit() -> ChainReport:
    """Follow the audit's chain in one read-only snapshot."""
    with _one_snapshot():
        return check_chain()


@contextmanager
def _one_snapshot() -> Iterator[None]:
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
