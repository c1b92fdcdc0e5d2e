"""The Celery app whose beat wakes the supervisor; the record, not a message, is the truth."""

import gc
import logging
import os
import warnings
from pathlib import Path

from celery import Celery
from celery.platforms import SecurityWarning
from celery.signals import beat_init, worker_ready
from django.conf import settings

from controlplane.embedded import broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")

log = logging.getLogger(__name__)

QUEUE = "supervise"
TASK = "tasks_app.beat.supervise"
# A message waits this long in the folder of the embedded broker before it is seen. The default of
# one second would be added to every wake-up.
POLLING_SECONDS = 0.2


def _transport_options() -> dict[str, object]:
    """Make the folders of the embedded broker, without which a worker exits, and name them."""
    if settings.CELERY_BROKER_URL.startswith(("redis:", "rediss:")):
        from controlplane import redis_broker

        redis_broker.use()
    if not settings.CELERY_BROKER_URL.startswith("filesystem:"):
        return {}
    broker.use()
    place = Path(settings.VAR) / "broker"
    folders = {name: place / name for name in ("messages", "control")}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return {
        "data_folder_in": str(folders["messages"]),
        "data_folder_out": str(folders["messages"]),
        "control_folder": str(folders["control"]),
        "polling_interval": POLLING_SECONDS,
    }


# It warns root of pickled messages; only JSON is accepted here.
warnings.simplefilter("ignore", SecurityWarning)

app = Celery("chargehand")
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    broker_transport_options=_transport_options(),
    broker_connection_retry_on_startup=True,
    accept_content=["json"],
    task_serializer="json",
    result_serializer="json",
    task_ignore_result=True,
    task_default_queue=QUEUE,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    timezone="UTC",
    enable_utc=True,
    # One entry, and its last run does not matter: a file that remembers it could only be corrupt.
    beat_scheduler="celery.beat:Scheduler",
    beat_schedule={
        "supervise": {
            "task": TASK,
            "schedule": settings.BEAT_SECONDS,
            # A wake-up that nobody took is worthless when the next one is sent.
            "options": {"expires": settings.BEAT_SECONDS},
        },
    },
)
app.autodiscover_tasks(["tasks_app"], related_name="beat")


@beat_init.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _forget_schedule(**_: object) -> None:
    """Throw away what earlier versions remembered of the schedule."""
    for path in Path(settings.VAR).glob("beat-schedule*"):
        log.warning("%s is not needed and is thrown away", path)
        path.unlink(missing_ok=True)


@worker_ready.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _wake_at_once(**_: object) -> None:
    """Do not wait for the first beat, neither at a start nor after a supervisor was killed."""
    # What was imported stays: the collector need not look through it again and again.
    gc.freeze()
    app.send_task(TASK, expires=settings.BEAT_SECONDS)
