"""Every transaction of the leader touches a bounded number of rows, whatever the record holds."""

from collections.abc import Callable, Iterator
from typing import Final
from uuid import UUID

import pytest
from django.db import connection

from tasks_app.core.actions import bulks as core_bulks
from tasks_app.core.actions.bulks import BulkAction, BulkOrder
from tasks_app.models import Job, RetentionSettings, Task
from tasks_app.models.ids import new_id
from tasks_app.services.actions import bulks
from tasks_app.services.dispatch import rounds, sampler, settling, sweeping
from tasks_app.services.dispatch.sampler import Sampler
from tasks_app.services.jobs import job_settling, jobs
from tasks_app.services.people.people import Actor
from tasks_app.services.settings import pruning
from tasks_app.services.settings.pruning import Pruner
from tasks_app.store import alerting, sql
from tests.cpu_time import Work
from tests.floor import Floor

OPERATOR: Final = Actor("op", "127.0.0.1")
BOUND: Final = 20
SORTS: Final = 7
"""Of tasks: each of the sorts below has as many."""

# Written past the door, as if years of work had been left: a task of each sort in each line.
TASKS: Final = """
INSERT INTO task (id, kind, status, payload, estimate_seconds, max_attempts, run_at, queue_at,
                  deadline_at, dead_reason, finished_at, job_id, waiting_on, dependency_count)
SELECT gen_random_uuid(), 'job', s.status, '{}', 1, 3, now() - interval '1 hour',
       now() - interval '1 hour',
       CASE s.sort WHEN 'overdue' THEN now() - interval '1 minute' END,
       CASE s.sort WHEN 'dead' THEN 'exhausted' END,
       CASE WHEN s.sort IN ('old', 'dead') THEN now() - interval '1 year' + n * interval '1 ms' END,
       CASE s.sort WHEN 'of a job' THEN %(job)s::uuid END,
       (s.sort = 'dependent')::int, (s.sort = 'dependent')::int
  FROM generate_series(1, %(count)s) n,
       (VALUES ('ready', 'PENDING'), ('overdue', 'PENDING'), ('due', 'FAILED'),
               ('old', 'COMPLETED'), ('dead', 'DEAD'), ('of a job', 'PENDING'),
               ('dependent', 'PENDING')) AS s(sort, status)
"""
OTHERS: Final = (
    (
        "INSERT INTO dependency (task_id, depends_on_id, name, on_dead, state)"
        " SELECT id, %(need)s, 'input', 'wait', 'waiting' FROM task WHERE waiting_on = 1"
    ),
    "INSERT INTO settled (task_id, own) VALUES (%(need)s, false)",
    (
        "INSERT INTO status_delta (kind, status, change)"
        " SELECT 'job', 'PENDING', 1 FROM generate_series(1, %(count)s)"
    ),
    (
        "INSERT INTO request_rate (subject, remaining, at)"
        " SELECT n, 0, now() - interval '1 year' FROM generate_series(1, %(count)s) n"
    ),
    (
        "INSERT INTO shift (epoch, holder, began_at)"
        " SELECT n, 'h', now() - interval '1 year' FROM generate_series(1, %(count)s) n"
    ),
    (
        "INSERT INTO replica (holder, seen_at)"
        " SELECT n, now() - interval '1 year' FROM generate_series(1, %(count)s) n"
    ),
    (
        "INSERT INTO job_turn (kind_id, priority, job_id, at)"
        " SELECT 'job', 0, gen_random_uuid(), now() - interval '1 year'"
        "   FROM generate_series(1, %(count)s)"
    ),
    (
        "INSERT INTO alert_state (key, name, began_at, ended_at)"
        " SELECT n, 'no_leader', now() - interval '2 years', now() - interval '1 year'"
        "   FROM generate_series(1, %(count)s) n"
    ),
)

TOUCHED: Final = """
SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0) + n_tup_ins + n_tup_upd + n_tup_del)
  FROM pg_stat_user_tables
"""


def fill(floor: Floor, count: int) -> UUID:
    """Put ``count`` tasks of each sort into the record, and as much of all else; return the job."""
    floor.kind()
    floor.worker("w1", slots=10)
    job = Job.objects.create(id=new_id(), plan={"steps": []})
    (need,) = floor.submit()
    Task.objects.filter(id=need).update(status="COMPLETED", finished_at="2020-01-01T00:00:00Z")
    sql.execute("SET session_replication_role = replica")
    sql.execute(TASKS, {"count": count, "job": job.id})
    for statement in OTHERS:
        sql.execute(statement, {"count": count, "need": need})
    sql.execute("RESET session_replication_role; ANALYZE")
    RetentionSettings.objects.filter(id=1).update(completed_days=1, closed_days=1, dead_days=1)
    dead = list(Task.objects.filter(status="DEAD").values_list("id", flat=True)[:1000])
    bulks.begin(BulkOrder(BulkAction.REQUEUE, reason="again", key=bulks.new_key()), dead, OPERATOR)
    floor.end_holds()
    return job.id


def transactions(floor: Floor, job: UUID) -> Iterator[tuple[str, Callable[[], object]]]:
    """Everything that the leader does, a transaction or a few at a time."""
    floor.lead()
    yield "the pause of a job", lambda: jobs.pause_job(job, OPERATOR)
    for _ in range(3):
        yield "a look at jobs", lambda: rounds._job_round(floor.epoch, rounds.JOBS_AT_ONCE)
        yield "a batch of a bulk", lambda: rounds._bulk_round(floor.epoch)
        yield "a round", lambda: rounds._round(floor.epoch, 1, False)
        yield "a round that sweeps", lambda: rounds._round(floor.epoch, 1, True)
        yield "a batch of pruning", lambda: Pruner().prune(floor.epoch, 60, busy=False)
        yield "a sample and its clean-ups", lambda: Sampler().sample(floor.epoch, 60)
        yield "the clean-up of alerts", alerting.forget
    yield "the end of a job", lambda: jobs.cancel_job(job, OPERATOR)
    yield "a look at a job that ends", lambda: rounds._job_round(floor.epoch, rounds.JOBS_AT_ONCE)


def rows_touched() -> int:
    """Rows that were read or written in this database so far."""
    sql.rows("SELECT pg_stat_force_next_flush()")
    sql.rows("SELECT pg_stat_clear_snapshot()")
    return int(sql.rows(TOUCHED)[0][0])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds far below the size of the record."""
    monkeypatch.setattr(sweeping, "BATCH", BOUND)
    monkeypatch.setattr(settling, "EDGES_AT_ONCE", BOUND)
    monkeypatch.setattr(sampler, "FOLD_LIMIT", BOUND)
    monkeypatch.setattr(sql, "CLEARED_AT_ONCE", BOUND)
    monkeypatch.setattr(core_bulks, "BATCH", BOUND)
    monkeypatch.setattr(jobs, "HELD_AT_ONCE", BOUND)
    monkeypatch.setattr(job_settling, "HELD_AT_ONCE", BOUND)
    monkeypatch.setattr(job_settling, "STOPPED_AT_ONCE", BOUND)
    monkeypatch.setattr(pruning, "FIRST_BATCH", BOUND)
    monkeypatch.setattr(pruning, "EDGES_AT_ONCE", BOUND)


@pytest.mark.usefixtures("small")
def test_no_transaction_of_the_leader_touches_more_rows_the_more_there_are(record: None) -> None:
    floor = Floor()
    floor.settings(window=BOUND)
    count = 150 * BOUND
    job = fill(floor, count)
    # What the planner does with a table of this size says nothing of a large one.
    sql.execute("SET enable_seqscan = off")
    touched: dict[str, int] = {}
    for name, act in transactions(floor, job):
        before = rows_touched()
        act()
        touched[name] = max(touched.get(name, 0), rows_touched() - before)
    connection.close()
    too_many = {name: rows for name, rows in touched.items() if not 0 < rows < count}
    assert not too_many


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_transaction_of_the_leader_takes_a_second_with_a_million_tasks(record: None) -> None:
    floor = Floor()
    job = fill(floor, 1_000_000 // SORTS)
    seconds: dict[str, float] = {}
    for name, act in transactions(floor, job):
        work = Work()
        work.of(act)
        seconds[name] = max(seconds.get(name, 0.0), work.longest)
    too_long = {name: longest for name, longest in seconds.items() if longest >= 1.0}
    assert not too_long
