"""``manage.py audit-invariants``: the checker on a live database, read-only."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from tasks_app.services.audit_invariants import check_record
from tasks_app.store.reads.invariants.record_invariants import INVARIANTS


class Command(BaseCommand):
    """Prints a line for each invariant; the exit code says whether all of them hold."""

    help = "Check what must hold of the record at every instant; exit 1 if anything does not."

    def handle(self, *args: Any, **options: Any) -> None:
        """Check everything in one read-only snapshot."""
        broken = check_record()
        for invariant in INVARIANTS:
            offenders = broken.get(invariant.name)
            mark = "ok  " if offenders is None else "FAIL"
            self.stdout.write(f"{mark} {invariant.name}: {invariant.sentence}")
            for offender in offenders or ():
                self.stdout.write(f"       {offender}")
        if broken:
            sys.exit(1)
