"""``manage.py audit-verify``: follow the audit's chain from its first entry to its head."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from tasks_app.services.audit_invariants import check_audit


class Command(BaseCommand):
    """Prints one line; the exit code says whether the chain is whole."""

    help = "Check that no entry of the audit was changed or removed; exit 1 and name the first."

    def handle(self, *args: Any, **options: Any) -> None:
        """Check everything in one read-only snapshot."""
        report = check_audit()
        if report.fault:
            self.stdout.write(f"FAIL {report.fault} ({report.entries:,} entries before it hold)")
            sys.exit(1)
        self.stdout.write(f"ok   {report.entries:,} entries, each as it was written")
