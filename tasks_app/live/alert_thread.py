"""The thread of a web process that watches for alerts, for as long as the process lives."""

import threading
from typing import Final

from django.conf import settings

from tasks_app.services.alerts.alert_watch import watch
from tasks_app.store.reads.dispatch.leader_status import SILENT_BEATS

THREAD: Final = "alert-watch"


def start_watching() -> None:
    """Begin, unless the setting ALERT_WATCH says that somebody else does."""
    if not settings.ALERT_WATCH:
        return
    silent_after = float(SILENT_BEATS * settings.BEAT_SECONDS)
    threading.Thread(
        target=watch, args=(threading.Event(), silent_after), name=THREAD, daemon=True
    ).start()
