"""Celery entry points: one call each. Messages only wake; the record is the truth."""

import os
import socket
import threading

from celery import shared_task
from celery.signals import worker_shutting_down

from tasks_app.services.supervisor import run_shift

_stopping = threading.Event()


@worker_shutting_down.connect
def _stop(**_: object) -> None:
    _stopping.set()


@shared_task(name="tasks_app.beat.supervise")
def supervise() -> dict[str, object]:
    """Make sure that somebody is on duty: take the leader lease, or stand by for it."""
    holder = f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident() % 100_000}"
    report = run_shift(holder, _stopping.is_set)
    return {"led": report.led, "epoch": report.epoch, "rounds": report.rounds}
