"""``manage.py watch``: look for alerts and send them, as each web process does by itself."""

import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from tasks_app.services.alerts.alert_watch import watch
from tasks_app.store.reads.dispatch.leader_status import SILENT_BEATS


class Command(BaseCommand):
    """Watches until SIGTERM or SIGINT; any number may run beside web processes."""

    help = "Look for alerts and send them to the channels, where no web process does (ALERT_WATCH)."

    def handle(self, *args: Any, **options: Any) -> None:
        """Watch until a signal asks to stop."""
        stopping = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        watch(stopping, float(SILENT_BEATS * settings.BEAT_SECONDS))
