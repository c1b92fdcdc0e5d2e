"""Celery entry points: one call each. Messages only wake; the record is the truth."""

import threading

from celery import shared_task
from celery.signals import worker_shutting_down

from tasks_app.services.dispatch.leader_holders import holder_name
from tasks_app.services.dispatch.supervisor import serve

_stopping = threading.Event()


@worker_shutting_down.connect
def _stop(**_: object) -> None:
    _stopping.set()


@shared_task(name="tasks_app.beat.supervise")
def supervise() -> dict[str, object]:
    """Make sure that somebody is on duty: take the leader lease, or stand by for it."""
    report = serve(holder_name(), _stopping.is_set)
    return {"led": report.led, "epoch": report.epoch, "rounds": report.rounds}
