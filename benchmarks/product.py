"""The product by its own doors: submissions, ``manage.py supervise`` and ``manage.py work``."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from django.db import connection

from benchmarks.stage import Stage
from benchmarks.stamps import Stamps
from benchmarks.subjects import ENQUEUE_BATCH, Drain, await_empty
from tasks_app.core.intake.new_tasks import NewTask
from tasks_app.models import Kind, Leader, SupervisorSettings
from tasks_app.services.intake.submission import submit, submit_tasks

KIND = "noop"
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "stamp": {"type": "boolean"}},
    "additionalProperties": False,
}
TABLES = (
    "task, lease, attempt, dependency, settled, status_delta, status_count, sample, heartbeat,"
    " capability, worker, near_miss"
)
DISPATCHED = "SELECT sum(dispatch_seconds), sum(dispatched) FROM sample WHERE resolution = 1"


class Product:
    """Chargehand as it is delivered.

    ``schema`` has payloads checked against one. ``whole`` has ``manage.py work`` run the handlers,
    in a thread a slot; else a loop over the same protocol calls them one after the other, as the
    floor does.
    """

    def __init__(self, stage: Stage, *, schema: bool = False, whole: bool = False) -> None:
        self.name = f"product{', whole worker' * whole}{', payload schema' * schema}"
        self._stage = stage
        self._schema = schema
        self._worker = (
            ("manage.py", "work", "--handlers", "benchmarks.handlers")
            if whole
            else ("-m", "benchmarks.bare_worker")
        )

    def reset(self, workers: int) -> None:
        """Empty the record; workers register themselves."""
        with connection.cursor() as cursor:
            cursor.execute(f"TRUNCATE {TABLES} CASCADE")
        SupervisorSettings.objects.get_or_create(id=1)
        Leader.objects.update_or_create(id=1, defaults={"expires_at": None})
        schema = SCHEMA if self._schema else None
        Kind.objects.update_or_create(name=KIND, defaults={"payload_schema": schema})

    def enqueue(self, count: int) -> float:
        """Submit as any program does: checked, and all of a batch or nothing."""
        began = time.perf_counter()
        for start in range(0, count, ENQUEUE_BATCH):
            numbers = range(start, min(start + ENQUEUE_BATCH, count))
            submit_tasks([NewTask(KIND, {"n": number}) for number in numbers])
        return count / (time.perf_counter() - began)

    @contextmanager
    def processes(self, batch: int, workers: int) -> Iterator[list["subprocess.Popen[str]"]]:
        """The workers and the supervisor, which comes last."""
        work = (*self._worker, "--slots", str(batch))
        with ExitStack() as started:
            words = [(*work, "--name", f"w{number}") for number in range(1, workers + 1)]
            words.append(("manage.py", "supervise"))
            yield [started.enter_context(self._stage.process(*each)) for each in words]

    def drain(self, count: int, batch: int, workers: int) -> Drain:
        """D is read from the record's own samples."""
        self.reset(workers)
        self.enqueue(count)
        self._stage.settle()
        with self.processes(batch, workers):
            rate = await_empty(self._stage.url("chargehand"))
            seconds, dispatched = self._dispatched(count)
        return Drain(rate, 1e6 * seconds / dispatched)

    def _dispatched(self, count: int) -> tuple[float, int]:
        """Wait for the sample that tells of the last dispatch."""
        while True:
            with connection.cursor() as cursor:
                cursor.execute(DISPATCHED)
                seconds, dispatched = cursor.fetchone()
            if dispatched is not None and dispatched >= count:
                return float(seconds), int(dispatched)
            time.sleep(0.1)

    def pick_up(self, samples: int, stamps: Stamps) -> list[float]:
        """One worker, idle between two samples."""
        self.reset(1)
        with self.processes(100, 1):
            return stamps.collect(lambda: submit(KIND, {"stamp": True}), samples)
