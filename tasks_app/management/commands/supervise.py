"""``manage.py supervise``: the supervisor's loop without Celery."""

import gc
import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from tasks_app.services.dispatch.leader_holders import holder_name
from tasks_app.services.dispatch.supervisor import supervise


class Command(BaseCommand):
    """Runs shifts until SIGTERM or SIGINT, standing by while another replica leads."""

    help = "Run the supervisor without Celery: take the leader lease or stand by for it."

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until a signal asks to stop; the lease is freed then."""
        stopping = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        # What was imported stays: the collector need not look through it again and again.
        gc.freeze()
        report = supervise(holder_name(), stopping.is_set)
        self.stdout.write(f"off duty after {report.rounds} rounds of the last shift")
