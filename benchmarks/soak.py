"""Whether the memory of supervisor and worker stays flat over very many tasks."""

import time
from collections.abc import Mapping
from typing import Any, Final

import psutil
from django.db import connection

from benchmarks.product import Product
from benchmarks.stage import Stage, show

BATCH: Final = 500
MOST_QUEUED: Final = 20_000
LOOK: Final = 0.2
PORTION: Final = 5_000

UNFINISHED: Final = "SELECT count(*) FROM task WHERE status IN ('PENDING', 'ASSIGNED', 'RUNNING')"


def unfinished() -> int:
    """Tasks that still stand in the way; the queue is short, so counting them is cheap."""
    with connection.cursor() as cursor:
        cursor.execute(UNFINISHED)
        return int(cursor.fetchone()[0])


def measure_soak(stage: Stage, tasks: int) -> Mapping[str, Any]:
    """Resident memory in MiB at each tenth of the way, of the supervisor and of a whole worker."""
    product = Product(stage, whole=True)
    product.reset(1)
    seen: list[tuple[int, float, float]] = []
    began = time.monotonic()
    with product.processes(BATCH, 1) as processes:
        worker, supervisor = (psutil.Process(each.pid) for each in processes)
        submitted = 0
        while submitted < tasks or unfinished():
            if submitted < tasks and unfinished() < MOST_QUEUED:
                product.enqueue(min(PORTION, tasks - submitted))
                submitted = min(tasks, submitted + PORTION)
            else:
                time.sleep(LOOK)
            if submitted >= (len(seen) + 1) * tasks // 10:
                seen.append((submitted, _resident(supervisor), _resident(worker)))
    report = {
        "tasks": tasks,
        "seconds": round(time.monotonic() - began, 1),
        "at": [{"tasks": n, "supervisor_mib": s, "worker_mib": w} for n, s, w in seen],
        "growth_of_second_half": {
            "supervisor": round(seen[-1][1] / seen[len(seen) // 2][1], 3),
            "worker": round(seen[-1][2] / seen[len(seen) // 2][2], 3),
        },
    }
    show(
        f"Memory over {tasks:,} tasks, MiB",
        ("tasks", "supervisor", "worker"),
        [[f"{n:,}", f"{s:.1f}", f"{w:.1f}"] for n, s, w in seen],
    )
    return report


def _resident(process: psutil.Process) -> float:
    return round(process.memory_info().rss / 2**20, 1)
