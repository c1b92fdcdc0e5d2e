"""What a round costs when much is on record, and when much is ready for many workers."""

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, Final

from django.db import connection, transaction

from benchmarks.product import KIND, Product
from benchmarks.stage import Stage, show
from tasks_app.core.facts import StrategyName
from tasks_app.models import Kind
from tasks_app.models.ids import new_id
from tasks_app.sdk.link import Completion
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.dispatch.rounds import run_round
from tasks_app.services.dispatch.sweeping import run_sweep
from tasks_app.store import workers
from tasks_app.store.dispatch import leader
from tasks_app.store.reads.settings.configuration import supervisor_settings

SMALL_SHARE: Final = 100
"""The small record is this many times smaller than the large one."""
READY: Final = 1000
SLOTS: Final = 8
FEW: Final = 10
RUNS: Final = 30

FINISHED: Final = """
WITH made AS (
    INSERT INTO task (id, kind, status, payload, result, estimate_seconds, max_attempts, token,
                      attempts, total_attempts, created_at, run_at, queue_at, finished_at)
    SELECT gen_random_uuid(), %(kind)s, 'COMPLETED', jsonb_build_object('n', n), '{"ok": true}',
           1, 3, nextval('lease_token'), 1, 1, at, at, at, at
      FROM (SELECT n, statement_timestamp() - interval '1 day' - n * interval '1 ms' AS at
              FROM generate_series(1, %(count)s) n) made
    RETURNING id, token, created_at
)
INSERT INTO attempt (token, task_id, kind, worker_id, number, assigned_at, started_at, ended_at,
                     outcome)
SELECT token, id, %(kind)s, %(worker)s, 1, created_at, created_at, created_at, 'completed'
  FROM made
"""


def register(count: int) -> None:
    """So many workers, all capable."""
    for number in range(count):
        workers.register(
            new_id(),
            name=f"w{number:04}",
            host="",
            pid=0,
            version="",
            slots=SLOTS,
            skills={KIND: 1.0 + number % 4},
        )


def analyse() -> None:
    """Have nothing left that autovacuum would do in the middle of a measurement."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE task, attempt, lease, status_delta, worker, capability")


def milliseconds(act: Callable[[], object], runs: int) -> float:
    """The median of so many runs, each rolled back so that all find the same record."""
    found = []
    for _ in range(runs + 3):
        with transaction.atomic():
            began = time.perf_counter()
            act()
            found.append(1000 * (time.perf_counter() - began))
            transaction.set_rollback(True)
    return median(found[3:])


def measure_terminal(stage: Stage, tasks: int, repeat: int) -> Mapping[str, Any]:
    """A round and a sweep beside a few and beside ``tasks`` finished tasks."""
    product = Product(stage)
    product.reset(1)
    register(FEW)
    product.enqueue(READY)
    epoch = leader.acquire("benchmark", 3600)
    assert epoch is not None
    found: dict[str, list[float]] = {"round": [], "sweep": []}
    few = max(tasks // SMALL_SHARE, 1)
    for count in (few, tasks - few):
        with connection.cursor() as cursor:
            cursor.execute(FINISHED, {"kind": KIND, "count": count, "worker": new_id()})
        analyse()
        runs = RUNS * repeat
        found["round"].append(milliseconds(lambda: run_round(epoch, 1, sweeping=False), runs))
        found["sweep"].append(milliseconds(lambda: run_sweep(supervisor_settings()), runs))
    report = {
        name: {
            "ms_beside_few": round(small, 3),
            "ms_beside_many": round(large, 3),
            "ratio": round(large / small, 3),
        }
        for name, (small, large) in found.items()
    }
    show(
        f"Beside {few:,} and beside {tasks:,} finished tasks",
        ("what", "few, ms", "many, ms", "ratio"),
        [[name, *(f"{value:,}" for value in each.values())] for name, each in report.items()],
    )
    return report


def measure_wide(stage: Stage, tasks: int, repeat: int) -> Mapping[str, Any]:
    """One whole round with ``tasks`` ready for a hundredth as many workers, by each strategy."""
    product = Product(stage)
    product.reset(1)
    count = max(tasks // 100, 1)
    register(count)
    product.enqueue(tasks)
    analyse()
    epoch = leader.acquire("benchmark", 3600)
    assert epoch is not None
    report = {}
    for strategy in StrategyName:
        Kind.objects.filter(name=KIND).update(strategy=strategy)
        runs = 10 * repeat
        report[strategy.value] = round(
            milliseconds(lambda: run_round(epoch, 1, sweeping=False), runs), 2
        )
    show(
        f"One round with {tasks:,} ready tasks for {count:,} workers",
        ("strategy", "ms"),
        [[name, f"{value:,}"] for name, value in report.items()],
    )
    return report


SCHEDULED: Final = """
INSERT INTO task (id, kind, payload, estimate_seconds, max_attempts, priority, run_at, ready_at,
                  queue_at)
SELECT gen_random_uuid(), %(kind)s, '{}', 1, 3, 100, at, at, at - 100 * interval '1 minute'
  FROM (SELECT statement_timestamp() + interval '30 minutes' AS at
          FROM generate_series(1, %(count)s)) made
"""


def measure_scheduled(stage: Stage, tasks: int, repeat: int) -> Mapping[str, Any]:
    """A round beside none and beside ``tasks`` tasks of priority 100 that are due in 30 minutes."""
    product = Product(stage)
    product.reset(1)
    register(FEW)
    epoch = leader.acquire("benchmark", 3600)
    assert epoch is not None
    report = {}
    for count in (0, tasks):
        with connection.cursor() as cursor:
            cursor.execute(SCHEDULED, {"kind": KIND, "count": count})
        analyse()
        runs = RUNS * repeat
        report[f"{count:,} scheduled"] = round(
            milliseconds(lambda: run_round(epoch, 1, sweeping=False), runs), 2
        )
    show("One round", ("beside", "ms"), [[name, f"{ms:,}"] for name, ms in report.items()])
    return report


UPDATES: Final = """
SELECT n_tup_upd - %(updates)s, n_tup_hot_upd - %(hot)s FROM pg_stat_user_tables
 WHERE relname = 'task'
"""


def measure_updates(stage: Stage, tasks: int, repeat: int) -> Mapping[str, Any]:
    """How many updates of ``task`` its life takes, and how many of them touch no index (HOT)."""
    product = Product(stage)
    product.reset(1)
    worker = new_id()
    workers.register(worker, name="w", host="", pid=0, version="", slots=SLOTS, skills={KIND: 1.0})
    epoch = leader.acquire("benchmark", 3600)
    assert epoch is not None
    before = _updates(0, 0)
    product.enqueue(tasks)
    done = 0
    while done < tasks:
        run_round(epoch, 1, sweeping=False)
        grants = worker_protocol.claim(worker, 2 * SLOTS)
        worker_protocol.complete(worker, [Completion(g.task_id, g.token, None) for g in grants])
        done += len(grants)
    updates, hot = _updates(*before)
    report = {"tasks": tasks, "updates": updates, "hot": hot}
    show("Updates of the task table", tuple(report), [[f"{n:,}" for n in report.values()]])
    return report


def _updates(updates: int, hot: int) -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(UPDATES, {"updates": updates, "hot": hot})
        found: tuple[int, int] = cursor.fetchone() or (0, 0)
    return found


MEASURES: Final[Mapping[str, Callable[[Stage, int, int], Mapping[str, Any]]]] = {
    "terminal": measure_terminal,
    "wide": measure_wide,
    "scheduled": measure_scheduled,
    "updates": measure_updates,
}
