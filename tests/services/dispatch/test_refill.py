"""Workers that have finished are given more at once, although a completion sends no hint."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from tasks_app.services.dispatch.supervisor import run_shift
from tests.floor import Floor
from tests.waiting import wait_for

TASKS = 6
RUN_TIME = 0.1
"""Seconds that a task takes: longer than the leader looks about after a hand-out."""


def test_a_full_worker_is_refilled_without_waiting_for_the_tick(floor: Floor) -> None:
    floor.settings(backlog=0, tick_seconds=30.0, shift_seconds=60.0)
    floor.worker("w1", slots=1)
    floor.submit(TASKS)
    stopping = threading.Event()

    def lead() -> None:
        try:
            run_shift("test", stopping.is_set)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as beside:
        led = beside.submit(lead)
        try:
            wait_for(lambda: floor.claim("w1"), "the first task")  # left running for a while
            time_taken = seconds_for_the_rest(floor)
        finally:
            stopping.set()
        led.result()
    # A leader that sleeps until its next sample hands out one a second.
    assert time_taken < 0.6 * TASKS


def seconds_for_the_rest(floor: Floor) -> float:
    """Complete one task after the other, as each is handed out and has run."""
    from tasks_app.models import Lease
    from tasks_app.sdk.link import Completion
    from tasks_app.services.attempts import worker_protocol

    began = time.monotonic()
    for _ in range(TASKS - 1):
        time.sleep(RUN_TIME)
        task, token = Lease.objects.values_list("task_id", "token").get()
        worker_protocol.complete(floor.workers["w1"], [Completion(task, token, None)])
        wait_for(lambda: floor.claim("w1"), "the next task")
    return time.monotonic() - began
