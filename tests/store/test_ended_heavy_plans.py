"""What a round does costs the same beside ten million ended tasks: every statement, as it is run.

The record holds some ten thousand ended tasks and next to nothing else; the planner is told that
there are ten million of them. Each statement of the calls below is planned and run by the server as
it always is, and its plan says how many rows it read: none may read what has ended.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from tasks_app.core.actions.bulks import BulkAction, BulkOrder
from tasks_app.core.states import OnDead
from tasks_app.models import Limit, RetentionSettings, Task
from tasks_app.services.actions import bulks, operations
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.alerts import alert_watch
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.dispatch.sampler import Sampler
from tasks_app.services.jobs import jobs
from tasks_app.services.people.people import Actor
from tasks_app.services.settings.pruning import Pruner
from tasks_app.store import sql
from tests.floor import Floor

OPERATOR = Actor("op", "127.0.0.1")

ENDED: Final = 12_000
BELIEVED: Final = 10_000_000
MOST_READ: Final = 400
"""Rows of a large table that one scan of one statement may read; far fewer than have ended."""

FILL: Final = """
INSERT INTO task (id, kind, status, payload, key, estimate_seconds, max_attempts, created_at,
                  run_at, queue_at, finished_at, deadline_at, job_id, dependency_count,
                  attempts, total_attempts, has_dependents)
SELECT gen_random_uuid(), 'job', (ARRAY['COMPLETED', 'COMPLETED', 'COMPLETED', 'CANCELLED',
                                        'DISMISSED', 'SKIPPED'])[n %% 6 + 1],
       '{}', 'ended ' || n, 1, 3, at, at, at, at + interval '1 second',
       CASE WHEN n %% 2 = 0 THEN at + interval '1 hour' END,
       CASE WHEN n %% 3 = 0 THEN md5((n / 30)::text)::uuid END, 1, 1, 1, true
  FROM (SELECT n, now() - interval '20 days' + n * interval '1 minute' AS at
          FROM generate_series(1, %(rows)s) n) made;
INSERT INTO task (id, kind, status, payload, key, estimate_seconds, max_attempts, deadline_at,
                  waiting_on)
SELECT gen_random_uuid(), 'job', 'PENDING', '{}', 'waits ' || n, 1, 3, now() + interval '1 day', 1
  FROM generate_series(1, %(rows)s / 20) n;
INSERT INTO job (id, name, plan, status, created_at, finished_at)
SELECT DISTINCT job_id, 'ended', '{"steps": []}'::jsonb, 'COMPLETED', now() - interval '20 days',
       now() - interval '10 days'
  FROM task WHERE job_id IS NOT NULL;
INSERT INTO attempt (token, task_id, kind, worker_id, number, assigned_at, started_at, ended_at,
                     outcome)
SELECT nextval('lease_token'), id, 'job', gen_random_uuid(), 1, run_at, run_at, finished_at,
       'completed'
  FROM task WHERE finished_at IS NOT NULL;
INSERT INTO dependency (task_id, depends_on_id, name, on_dead, state)
SELECT id, lag, 'input', 'wait', 'met'
  FROM (SELECT id, lag(id) OVER (ORDER BY id) FROM task) t WHERE lag IS NOT NULL;
INSERT INTO worker (id, name, slots, state, registered_at, ended_at)
SELECT gen_random_uuid(), 'boot ' || n, 4, 'lost', now() - interval '9 days',
       now() - interval '8 days'
  FROM generate_series(1, %(rows)s / 4) n;
INSERT INTO heartbeat (worker_id, at, previous_at)
SELECT id, registered_at, registered_at FROM worker;
INSERT INTO capability (worker_id, kind) SELECT id, 'job' FROM worker
"""
LARGE: Final = ("task", "attempt", "dependency", "job", "worker", "heartbeat", "capability")

# The planner takes the density of the pages, rows a page, from here and the pages from the disk.
BELIEVE: Final = """
UPDATE pg_class SET reltuples = %(rows)s, relpages = greatest(relpages, 1)
 WHERE oid = ANY (%(tables)s::text[]::regclass[])
"""


@dataclass(frozen=True)
class Read:
    """One scan of a large table: by what, and how many rows it went through."""

    statement: str
    table: str
    way: str
    rows: float


class Plans:
    """Collects what the statements of this connection read, as the server's own plans say."""

    def __init__(self) -> None:
        self.reads: list[Read] = []
        self.statements = 0

    def __call__(self, notice: psycopg.errors.Diagnostic) -> None:
        """Take one plan from a notice."""
        text = notice.message_primary or ""
        found = re.search(r"plan:\n(.*)", text, re.DOTALL)
        if found is None:
            return
        plan = json.loads(found[1])
        self.statements += 1
        self._walk(plan["Plan"], plan["Query Text"])

    def _walk(self, node: Mapping[str, Any], statement: str) -> None:
        table = node.get("Relation Name")
        if table in LARGE and "Actual Loops" in node and node["Node Type"] != "ModifyTable":
            gone = node.get("Rows Removed by Filter", 0) + node.get(
                "Rows Removed by Index Recheck", 0
            )
            rows = (node["Actual Rows"] + gone) * node["Actual Loops"]
            way = node.get("Index Name", node["Node Type"])
            self.reads.append(Read(statement, table, way, rows))
        for child in node.get("Plans", ()):
            self._walk(child, statement)

    def too_much(self) -> list[Read]:
        """The scans that went through what has ended."""
        return [read for read in self.reads if read.rows > MOST_READ]


@contextmanager
def plans_of_statements() -> Iterator[Plans]:
    """Have the server tell the plan of each statement, with what it read."""
    plans = Plans()
    with connection.cursor() as cursor:
        cursor.execute(
            "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0;"
            " SET auto_explain.log_analyze = on; SET auto_explain.log_timing = off;"
            " SET auto_explain.log_format = json; SET auto_explain.log_level = notice;"
            " SET client_min_messages = notice"
        )
    raw = connection.connection
    raw.add_notice_handler(plans)
    try:
        yield plans
    finally:
        raw.remove_notice_handler(plans)
        connection.close()


@pytest.fixture
def heavy(floor: Floor) -> Iterator[Floor]:
    """A floor beside ended tasks, of which the planner takes there to be ten million."""
    floor.kind(breaker_failures=5)
    sql.execute("; ".join(f"ALTER TABLE {t} SET (autovacuum_enabled = false)" for t in LARGE))
    sql.execute(
        f"SET session_replication_role = replica; {FILL}; RESET session_replication_role",
        {"rows": ENDED},
    )
    sql.execute(f"ANALYZE {', '.join(LARGE)}")
    sql.execute(BELIEVE, {"rows": BELIEVED, "tables": list(LARGE)})
    yield floor
    sql.execute("; ".join(f"ALTER TABLE {t} RESET (autovacuum_enabled)" for t in LARGE))
    sql.execute(
        "DELETE FROM pg_statistic WHERE starelid = ANY (%(t)s::text[]::regclass[])",
        {"t": list(LARGE)},
    )


def idle_round(floor: Floor) -> None:
    """A sweep that finds nothing."""
    floor.round()


def busy_rounds(floor: Floor) -> None:
    """Work of every sort: handed out, done, failed, retried, settled, late, unroutable, locked."""
    Limit.objects.create(name="api", max_concurrent=50, rate_per_second=1000, burst=50)
    floor.kind("limited", limit_id="api", breaker_failures=3)
    floor.kind("nobody's")
    floor.worker("w1", slots=20, skills={"job": 1.0, "limited": 1.0})
    (need,) = floor.submit()
    floor.submit(3, needs=[(need, OnDead.WAIT)])
    floor.submit(5, kind="limited")
    floor.submit(5, lock_key="one")
    floor.submit(2, kind="nobody's")
    floor.submit(2, deadline_at=timezone.now())
    floor.round()
    first, *others = floor.claim("w1", 20)
    for grant in others[:3]:
        floor.fail("w1", grant)
    for grant in (first, *others[3:]):
        floor.complete("w1", grant)
    floor.round()
    Task.objects.filter(status="FAILED").update(run_at=timezone.now())
    floor.round()
    floor.claim("w1")
    floor.beat("w1")
    floor.silence("w1", 100)
    floor.round()


def work_of_jobs(floor: Floor) -> None:
    """A job from its submission to its end, paused and resumed on the way."""
    floor.worker("w1", slots=20)
    steps = [
        {"name": "a", "kind": "job"},
        {"name": "b", "kind": "job", "depends_on": ["a"], "payload": {"of": {"$result": "a"}}},
    ]
    job = jobs.submit_job({"steps": steps})
    for _ in range(6):
        floor.round()
        for grant in floor.claim("w1"):
            floor.complete("w1", grant, {})
    jobs.pause_job(job.id, OPERATOR)
    jobs.cancel_job(job.id, OPERATOR)
    floor.round()


def acts_of_people(floor: Floor) -> None:
    """Requeues, dismissals, cancels, a drain and a bulk, each worked off by rounds."""
    worker = floor.worker("w1", slots=20)
    tasks = floor.submit(6)
    floor.round()
    for grant in floor.claim("w1"):
        floor.fail("w1", grant, permanent=True)
    operations.requeue(tasks[:1], OPERATOR)
    operations.dismiss(tasks[1:2], OPERATOR, "closed")
    cancel_tasks(tasks[:1], OPERATOR)
    order = BulkOrder(BulkAction.REQUEUE, reason="again", key=bulks.new_key())
    assert bulks.begin(order, tasks[2:], OPERATOR) is not None
    floor.work_off()
    operations.drain_worker(worker, OPERATOR)
    operations.resume_worker(worker, OPERATOR)
    worker_protocol.deregister(worker)
    floor.round()


def samples_and_alerts(floor: Floor) -> None:
    """A second's sample, and a look for alerts."""
    floor.lead()
    Sampler().sample(floor.epoch, 60)
    alert_watch.look(60.0)


def pruning_that_finds_nothing(floor: Floor) -> None:
    """A pass over everything that may be kept for some days, none of it kept for so long."""
    days = {"completed": 3650, "closed": 3650, "dead": 3650}
    RetentionSettings.objects.update(**{f"{what}_days": n for what, n in days.items()})
    floor.lead()
    pruner = Pruner()
    for _ in range(8):
        pruner.prune(floor.epoch, 60, busy=False)


CALLS: Final[tuple[Callable[[Floor], None], ...]] = (
    idle_round,
    busy_rounds,
    work_of_jobs,
    acts_of_people,
    samples_and_alerts,
    pruning_that_finds_nothing,
)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_no_statement_reads_what_has_ended(heavy: Floor, call: Callable[[Floor], None]) -> None:
    with plans_of_statements() as plans:
        call(heavy)
    assert plans.statements > 5
    assert plans.too_much() == []


def test_a_search_in_the_order_of_the_ids_is_found_to_read_what_has_ended(heavy: Floor) -> None:
    with plans_of_statements() as plans:
        sql.rows(
            "SELECT id FROM task WHERE deadline_at < statement_timestamp()"
            " AND status IN ('PENDING', 'FAILED') ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED"
        )
    (read,) = plans.too_much()
    assert read.way == "task_pkey"
