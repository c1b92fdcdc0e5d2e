"""Every hot statement goes by its index on 100,000 rows, whatever the planner believes of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import md5
from typing import Any, Final
from uuid import UUID

import pytest
from django.db import connection

from tasks_app.core.failures.fingerprints import UNMARKED
from tasks_app.core.settings.retention import Going, Kept
from tasks_app.models import Leader, SupervisorSettings, Task
from tasks_app.store import sql, workers
from tasks_app.store.actions import priority_changes, unleased_ends
from tasks_app.store.attempts import lease_locks, leases, sweep
from tasks_app.store.dispatch import breakers, dispatch, sampling
from tasks_app.store.failures import dead_letters
from tasks_app.store.intake import dependencies, needed_tasks, submission
from tasks_app.store.jobs import human_steps, steps
from tasks_app.store.reads.dispatch import breakers as breaker_reads
from tasks_app.store.reads.dispatch import ready_queue, round_snapshot, waiting_jobs
from tasks_app.store.reads.failures import dead_letters as dead_reads
from tasks_app.store.reads.failures.hopeless import HOPELESS_PARAMS
from tasks_app.store.reads.jobs import inbox
from tasks_app.store.reads.settings import retention
from tasks_app.store.settings import pruning
from tests.floor import Floor

ROWS: Final = 100_000
IN_FLIGHT: Final = 2_000

# Of ten tasks six are finished, two ready, and one each failed or dead; some in flight beside.
FILL: Final = """
INSERT INTO task (id, kind, status, payload, key, estimate_seconds, max_attempts, run_at, queue_at,
                  deadline_at, dead_reason, finished_at, job_id)
SELECT gen_random_uuid(), 'job', s, '{}', 'k' || n, 1, 3, at, at,
       CASE WHEN n %% 50 = 0 THEN now() + interval '1 day' END,
       CASE s WHEN 'DEAD' THEN CASE WHEN n %% 100 < 10 THEN 'poison' ELSE 'exhausted' END END,
       CASE WHEN s IN ('COMPLETED', 'DEAD') THEN now() - interval '25 hours' END,
       CASE WHEN n %% 4 = 2 THEN md5((n %% 44)::text)::uuid END
  FROM (SELECT n, now() - n * interval '1 millisecond' AS at,
               (ARRAY['DEAD', 'FAILED', 'PENDING', 'PENDING', 'COMPLETED', 'COMPLETED',
                      'COMPLETED', 'COMPLETED', 'COMPLETED', 'COMPLETED'])[n %% 10 + 1] AS s
          FROM generate_series(1, %(rows)s) n) made
"""
HISTORY: Final = """
INSERT INTO attempt (token, task_id, kind, worker_id, number, assigned_at, started_at, outcome)
SELECT nextval('lease_token'), id, 'job', %(worker)s, 1, now(), now(),
       CASE status WHEN 'COMPLETED' THEN 'completed' ELSE 'error' END
  FROM task WHERE status IN ('COMPLETED', 'FAILED', 'DEAD')
"""
RUNNING: Final = """
WITH running AS (
    UPDATE task SET status = 'RUNNING', assigned_to = %(worker)s, token = nextval('lease_token'),
                    attempts = 1
     WHERE id IN (SELECT id FROM task WHERE status = 'PENDING' LIMIT %(count)s)
    RETURNING id, token
)
INSERT INTO lease (task_id, worker_id, kind, token, expected_seconds, started_at)
SELECT id, %(worker)s, 'job', token, 1, CASE WHEN token %% 2 = 0 THEN now() END FROM running
"""
EDGES: Final = """
WITH waiting AS (SELECT id, row_number() OVER () AS n FROM task WHERE status = 'PENDING'),
     finished AS (SELECT id, row_number() OVER () AS n FROM task WHERE status = 'COMPLETED')
INSERT INTO dependency (task_id, depends_on_id, name, on_dead, state)
SELECT w.id, f.id, 'input', 'wait', 'waiting' FROM waiting w JOIN finished f USING (n)
"""
DELTAS: Final = """
INSERT INTO status_delta (kind, status, change)
SELECT 'job', 'PENDING', 1 FROM generate_series(1, %(rows)s)
"""
FILLED: Final = ("dependency", "attempt", "lease", "status_delta", "task")
LARGE: Final = frozenset({"task", "attempt", "dependency"})

TABLES: Final = (
    "task, attempt, dependency, lease, status_delta, capability, heartbeat, worker, kind"
)

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", params=["never analysed", "analysed when emptied", "analysed"])
def filled(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any
) -> Iterator[UUID]:
    """A large record, filled once for all tests here; the id of its worker."""
    with django_db_blocker.unblock():
        forget(autovacuum=False)
        Floor().kind(breaker_failures=5)
        worker = Floor().worker("w1", slots=500)
        # Filling it must not fall into the traps itself, nor check a quarter of a million keys.
        sql.execute("SET enable_nestloop = off; SET session_replication_role = replica")
        if request.param == "analysed when emptied":
            fill(worker, ROWS // 100)
            # Its pages stay: of such a table the planner expects one row, however long it grows.
            sql.execute("; ".join(f"DELETE FROM {table}" for table in FILLED))
            sql.execute(f"ANALYZE {TABLES}")
        fill(worker, ROWS)
        sql.execute("RESET enable_nestloop; RESET session_replication_role")
        if request.param == "analysed":
            sql.execute(f"ANALYZE {TABLES}")
    yield worker
    with django_db_blocker.unblock():
        forget(autovacuum=True)
        connection.close()


def fill(worker: UUID, rows: int) -> None:
    """Put so many tasks into the record, with all that hangs on them."""
    sql.execute(FILL, {"rows": rows})
    sql.execute(HISTORY, {"worker": worker})
    sql.execute(RUNNING, {"worker": worker, "count": rows * IN_FLIGHT // ROWS})
    sql.execute(EDGES)
    sql.execute(DELTAS, {"rows": rows})


def forget(*, autovacuum: bool) -> None:
    """Empty the tables, and what the planner knows of them."""
    sql.execute(f"TRUNCATE {TABLES} CASCADE")
    names = TABLES.split(", ")
    for name in names:
        sql.execute(f"ALTER TABLE {name} SET (autovacuum_enabled = {autovacuum})")
    sql.execute(
        "DELETE FROM pg_statistic WHERE starelid = ANY (%(names)s::regclass[])", {"names": names}
    )
    SupervisorSettings.objects.get_or_create(id=1)
    Leader.objects.get_or_create(id=1)


@pytest.fixture
def hall(filled: UUID) -> Mapping[str, Any]:
    """What the statements ask for."""
    held = list(Task.objects.filter(status="RUNNING").values_list("id", "token")[:500])
    return {
        "worker": filled,
        "ready": list(Task.objects.filter(status="PENDING").values_list("id", flat=True)[:500]),
        "held": [task for task, _ in held],
        "tokens": [token for _, token in held],
    }


def scans(statement: str, params: Mapping[str, Any], ways: Sequence[str] = ()) -> set[str]:
    """How the plan reads: ``table: index`` or ``table: all of it``."""
    explain = f"EXPLAIN (FORMAT JSON) {statement}"
    rows = sql.rows_without(ways, explain, params) if ways else sql.rows(explain, params)
    plan = rows[0][0]
    found: set[str] = set()
    _walk((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"], found)
    if ways == sql.BY_KEY:
        assert not {each for each in found if each.endswith("again and again")}, found
    return found


def _walk(node: Mapping[str, Any], found: set[str]) -> None:
    if node["Node Type"] == "Seq Scan":
        found.add(f"{node['Relation Name']}: all of it")
    elif node["Node Type"] in ("Index Scan", "Index Only Scan"):
        found.add(f"{node['Relation Name']}: {node['Index Name']}")
    elif node["Node Type"] == "Bitmap Index Scan":
        found.add(f"bitmap: {node['Index Name']}")
    for child in node.get("Plans", ()):
        whole = "Index Cond" not in child and child.get("Relation Name") in (*FILLED, "worker")
        if "Join Filter" in node and whole:
            found.add(f"{child['Relation Name']}: again and again")
        _walk(child, found)


def of(found: set[str], table: str) -> set[str]:
    """The ways in which one table is read."""
    return {each.split(": ")[1] for each in found if each.startswith(f"{table}: ")}


def assert_no_large_table_is_read_whole(found: set[str]) -> None:
    whole = {each.split(": ")[0] for each in found if each.endswith(": all of it")}
    assert not whole & LARGE, found


def batch(hall: Mapping[str, Any]) -> dict[str, Any]:
    """A batch of 500 that is in flight, as ``complete`` and ``end`` get it."""
    return {
        "worker": hall["worker"],
        "tasks": sql.uuids(hall["held"]),
        "tokens": sql.array(hall["tokens"]),
    }


def test_dispatch_looks_up_tasks_and_workers_by_their_key(hall: Mapping[str, Any]) -> None:
    count = len(hall["ready"])
    found = scans(
        dispatch.DISPATCH,
        {
            "tasks": sql.uuids(hall["ready"]),
            "workers": sql.uuids([hall["worker"]] * count),
            "expected": sql.array([1.0] * count),
        },
        sql.BY_KEY,
    )
    assert of(found, "task") == {"task_pkey"}
    assert of(found, "worker") == {"worker_pkey"}


def test_a_claim_reads_the_beginning_of_what_is_claimable(hall: Mapping[str, Any]) -> None:
    found = scans(leases.CLAIM, {"worker": hall["worker"], "limit": 500}, sql.BY_KEY)
    assert of(found, "task") == {"task_pkey"}
    assert of(found, "lease") == {"lease_claimable", "lease_pkey"}
    assert_no_large_table_is_read_whole(found)


def test_a_completion_looks_up_leases_and_tasks_by_their_key(hall: Mapping[str, Any]) -> None:
    results = f"[{','.join(['{}'] * len(hall['held']))}]"
    found = scans(leases.COMPLETE, {**batch(hall), "results": results}, sql.BY_KEY)
    assert of(found, "task") == {"task_pkey"}
    assert of(found, "lease") == {"lease_pkey"}


def test_every_other_end_of_a_lease_goes_by_key_too(hall: Mapping[str, Any]) -> None:
    count = len(hall["held"])
    params = {
        **batch(hall),
        "statuses": ["FAILED"] * count,
        "outcomes": ["error"] * count,
        "errors": ["{}"] * count,
        "reasons": [None] * count,
        "fingerprints": [None] * count,
        "delays": [1.0] * count,
        "refunds": [False] * count,
    }
    found = scans(leases.END, params, sql.BY_KEY)
    assert of(found, "task") == {"task_pkey"}
    assert of(found, "lease") == {"lease_pkey"}


def test_a_failure_counts_the_attempts_of_its_own_task_only(hall: Mapping[str, Any]) -> None:
    found = scans(lease_locks.LOCK_RUNNING, batch(hall), sql.BY_KEY)
    assert of(found, "task") == {"task_pkey"}
    (history,) = of(found, "attempt")
    assert history.startswith("attempt_task_id")


def test_a_release_looks_up_the_tasks_of_what_its_worker_holds(hall: Mapping[str, Any]) -> None:
    params = {"workers": [hall["worker"]], "begun": True, "tokens": None}
    found = scans(lease_locks.LOCK_HELD, params, sql.BY_KEY)
    assert of(found, "task") == {"task_pkey"}


def test_a_near_miss_reads_no_large_table(hall: Mapping[str, Any]) -> None:
    assert_no_large_table_is_read_whole(
        scans(breakers.NOTE_NEAR_MISS, {"worker": hall["worker"]}, sql.BY_KEY)
    )


def test_a_sign_of_life_and_the_search_for_dead_workers_read_no_large_table(
    hall: Mapping[str, Any],
) -> None:
    beat = {"id": hall["worker"], "tokens": list(hall["tokens"]), "progress": sql.jsonb({})}
    assert_no_large_table_is_read_whole(scans(workers.BEAT, beat))
    assert_no_large_table_is_read_whole(scans(workers.MARK_LOST, {"stale_after": 90}))


def test_what_new_tasks_depend_on_is_locked_by_its_key(hall: Mapping[str, Any]) -> None:
    for statement in (needed_tasks.HOLD_DEPENDENCIES, needed_tasks.STATUSES):
        assert of(scans(statement, {"ids": hall["ready"]}, sql.BY_KEY), "task") == {"task_pkey"}
    found = scans(submission.LOCK_DEPENDENCIES, {"ids": hall["ready"]}, sql.BY_KEY)
    assert_no_large_table_is_read_whole(found)


def test_the_ready_queue_is_read_from_its_beginning(hall: Mapping[str, Any]) -> None:
    params = {"kinds": ["job"], "limit": 500}
    found = scans(ready_queue.READY, params, sql.IN_INDEX_ORDER)
    assert of(found, "task") == {"task_ready"}
    assert_no_large_table_is_read_whole(found)


def test_jobs_behind_the_beginning_of_the_queue_are_found_by_one_descent_each(
    hall: Mapping[str, Any],
) -> None:
    params = {"nil": UUID(int=0), "kinds": ["job"], "most": 100}
    found = scans(waiting_jobs.JOBS_IN_TURN, params, sql.IN_INDEX_ORDER)
    assert of(found, "task") == {"task_ready_of_job"}
    (jobs,) = sql.rows("SELECT count(DISTINCT job_id) FROM task WHERE status = 'PENDING'")
    assert len(sql.rows_in_index_order(waiting_jobs.JOBS_IN_TURN, params)) == jobs[0] == 11


def test_the_first_tasks_of_a_job_are_read_without_those_of_others(
    hall: Mapping[str, Any],
) -> None:
    params = {"kinds": ["job"], "jobs": [UUID(md5(b"2").hexdigest())], "limit": 50}
    found = scans(waiting_jobs.HEADS, params, sql.IN_INDEX_ORDER)
    assert of(found, "task") == {"task_ready_of_job"}
    assert len(sql.rows_in_index_order(waiting_jobs.HEADS, params)) == 50


def test_a_round_asks_for_open_jobs_by_their_index(hall: Mapping[str, Any]) -> None:
    found = scans(round_snapshot.HAS_JOBS, {}, sql.IN_INDEX_ORDER)
    assert of(found, "job") == {"job_open"}


def test_the_search_for_lost_leases_reads_what_is_in_flight(hall: Mapping[str, Any]) -> None:
    params = {"timeout_grace": 10.0, "unnamed_for": 20.0, "limit": 1000}
    found = scans(sweep.TAKE_LOST, params, sql.BY_KEY)
    assert of(found, "task") == {"task_pkey"}
    assert_no_large_table_is_read_whole(found)


CASES: Final[Mapping[str, tuple[str, Mapping[str, Any], str, str]]] = {
    "tasks past their deadline": (sweep.TAKE_OVERDUE, {"limit": 1000}, "task", "task_deadline"),
    "the oldest unfinished task": (
        sampling.RECORD,
        {
            "rounds": 1,
            "dispatched": 1,
            "completed": 1,
            "busy_seconds": 1.0,
            "dispatch_seconds": 1.0,
            "longest_round_seconds": 1.0,
            "reclaimed": 1,
            "promoted": 1,
            "lengths": [1],
            "unplaced": "[]",
        },
        "task",
        "task_oldest",
    ),
    "keys that are taken": (
        submission.EXISTING_KEYS,
        {"kinds": ["job"] * 500, "keys": [f"k{n}" for n in range(500)]},
        "task",
        "task_key_once",
    ),
    "kinds to quarantine": (breakers.QUARANTINE, {}, "task", "task_poisoned"),
    "failures that a breaker counts": (breaker_reads.BREAKERS, {}, "attempt", "attempt_failed"),
    "dead letters of one error": (
        dead_reads.ROWS.format(
            line=dead_reads.LINE,
            conditions=dead_reads.DeadFilter(cause="0" * 16).conditions(),
            bound="true",
            direction="DESC",
        ),
        {"cause": "0" * 16, "page": 51},
        "task",
        "task_dead_alike",
    ),
    "the oldest deltas": (sampling.FOLD, {"limit": 1000}, "status_delta", "status_delta_pkey"),
}


def test_retries_that_are_due_are_read_kind_by_kind(hall: Mapping[str, Any]) -> None:
    params = {"limit": 1000, "kinds": ["job"], "credits": [5.0], "allowed": [5]}
    found = scans(sweep.PROMOTE, params, sql.BY_KEY)
    assert of(found, "task") == {"task_retry_due", "task_pkey"}


def test_tasks_nobody_can_do_are_sought_at_the_beginning_of_the_queue(
    hall: Mapping[str, Any],
) -> None:
    params = {"grace": 86400.0, "limit": 1000}
    found = scans(sweep.FIND_UNROUTABLE, params, sql.IN_INDEX_ORDER)
    assert of(found, "task") == {"task_ready"}


@pytest.mark.parametrize("case", CASES)
def test_the_rest_of_a_round_goes_by_index(hall: Mapping[str, Any], case: str) -> None:
    statement, params, table, index = CASES[case]
    found = scans(statement, params)
    assert index in of(found, table) | of(found, "bitmap"), found
    assert_no_large_table_is_read_whole(found)


def test_dead_letters_are_grouped_from_the_end_of_their_index(hall: Mapping[str, Any]) -> None:
    statement = dead_reads.CAUSES.format(
        unmarked=UNMARKED,
        line=dead_reads.LINE,
        conditions=dead_reads.DeadFilter().conditions(),
    )
    found = scans(statement, {"most": 1000, "shown": 50}, sql.IN_INDEX_ORDER)
    assert of(found, "task") == {"task_dead", "task_pkey"}


def test_the_inbox_reaches_dependents_by_their_edges(hall: Mapping[str, Any]) -> None:
    params = {"limit": 1000, "nil": dependencies.NIL}
    found = scans(dependencies.TAKE_SETTLED, params, sql.BY_KEY)
    assert_no_large_table_is_read_whole(found)
    # Each reads the edges of one task only.
    of_task = {"dependency_pkey", "dependency_name_once"}
    assert of(found, "dependency") - of_task == {"dependency_of"}
    assert len(of(found, "dependency") & of_task) == 1


def test_closing_goes_by_key(hall: Mapping[str, Any]) -> None:
    params = {
        "tasks": hall["ready"],
        "errors": [None] * len(hall["ready"]),
        "fingerprints": [None] * len(hall["ready"]),
        "status": "CANCELLED",
        "reason": None,
    }
    assert_no_large_table_is_read_whole(scans(unleased_ends.CLOSE, params, sql.BY_KEY))


def test_acts_of_people_and_edges_go_by_key(hall: Mapping[str, Any]) -> None:
    ids = hall["ready"]
    results = {"ids": ids, "results": f"[{','.join('{}' for _ in ids)}]"}
    edges = {"tasks": ids, "depends_on": ids, "states": ["met"] * len(ids)}
    ready_queue = {"ids": ids, "locks": "{}", "payloads": results["results"]}
    asked: Mapping[str, Mapping[str, Any]] = {
        dead_letters.REQUEUE: {"ids": ids, **HOPELESS_PARAMS},
        dead_letters.DISMISS: {"ids": ids},
        priority_changes.SET_PRIORITY: {"ids": ids, "priority": 5},
        priority_changes.SET_DEADLINE: {"ids": ids, "deadline": None},
        dependencies.MOVE_EDGES: edges,
        steps.COMPLETE_JOINS: results,
        steps.RELEASE: ready_queue,
    }
    for statement, params in asked.items():
        found = scans(statement, params, sql.BY_KEY)
        assert_no_large_table_is_read_whole(found)


@pytest.mark.parametrize(
    ("what", "index"),
    [(Kept.COMPLETED, "task_completed"), (Kept.CLOSED, "task_closed"), (Kept.DEAD, "task_dead")],
)
def test_what_was_kept_for_long_enough_is_read_from_the_oldest_end(
    hall: Mapping[str, Any], what: Kept, index: str
) -> None:
    params = {"days": 1, "at": "-infinity", "id": UUID(int=0), "limit": 1000}
    assert of(scans(pruning.oldest_of(what), params, sql.IN_INDEX_ORDER), "task") == {index}
    found = scans(pruning.OLDEST_JOBS, params, sql.IN_INDEX_ORDER)
    assert of(found, "job") == {"job_ended"}


def test_pruning_goes_by_key_in_every_table_it_takes_from(hall: Mapping[str, Any]) -> None:
    ids = list(Task.objects.filter(status="COMPLETED").values_list("id", flat=True)[:1000])
    params = {"ids": sql.uuids(ids), "of_jobs": False}
    found = scans(pruning.PRUNE, params, sql.IN_INDEX_ORDER)
    # The kinds that hide values are few, and read once a batch.
    assert {each for each in found if each.endswith(": all of it")} <= {"kind: all of it"}, found
    assert of(found, "task") == {"task_pkey"}
    found = scans(pruning.TASKS_OF_JOBS, {"jobs": "{}", "limit": 1000}, sql.IN_INDEX_ORDER)
    assert of(found, "task") == {"task_of_job", "task_pkey"}
    found = scans(pruning.PRUNE_ITEMS, {"limit": 1000}, sql.IN_INDEX_ORDER)
    assert of(found, "bulk_item") == {"bulk_item_pkey"}
    params = {"days": 1, "limit": 1000}
    for table, at in pruning.LEDGERS.items():
        statement = pruning.BY_AGE.format(table=table, at=at)
        found = scans(statement, params, sql.IN_INDEX_ORDER)
        assert of(found, table) == {f"{table}_pkey"}


def test_the_oldest_of_each_sort_is_the_first_entry_of_an_index(hall: Mapping[str, Any]) -> None:
    found = scans(retention.OLDEST, {}, sql.IN_INDEX_ORDER)
    assert {"task_completed", "task_closed", "task_dead"} == of(found, "task")


def test_what_would_go_is_counted_up_to_a_bound_and_then_estimated(
    hall: Mapping[str, Any],
) -> None:
    assert retention.going(Kept.DEAD, 10_000) == Going(0, exact=True)
    found = retention.going(Kept.COMPLETED, 1)
    assert not found.exact
    assert retention.COUNTED < found.rows < 2 * ROWS


def test_what_waits_for_people_is_read_from_the_beginning_of_the_queue(
    hall: Mapping[str, Any],
) -> None:
    params = {"queue_at": "-infinity", "id": UUID(int=0), "limit": 51}
    assert of(scans(inbox.WAITING, params, sql.IN_INDEX_ORDER), "task") == {"task_ready"}
    assert of(scans(inbox.COUNT, {"limit": 100}, sql.IN_INDEX_ORDER), "task") == {"task_ready"}


def test_a_person_s_claim_and_its_end_go_by_key(hall: Mapping[str, Any]) -> None:
    claim = {"task": hall["ready"][0], "person": hall["worker"]}
    assert of(scans(human_steps.CLAIM, claim, sql.BY_KEY), "task") == {"task_pkey"}
    found = scans(human_steps.TAKE_EXPIRED, {"limit": 1000}, sql.BY_KEY)
    assert (of(found, "task"), of(found, "lease")) == ({"task_pkey"}, {"lease_of_person"})


def test_tasks_whose_start_time_is_ahead_are_passed_over_within_the_index(
    hall: Mapping[str, Any],
) -> None:
    explain = f"EXPLAIN (FORMAT JSON) {ready_queue.READY}"
    rows = sql.rows_without(sql.IN_INDEX_ORDER, explain, {"kinds": ["job"], "limit": 100})
    assert "run_at <= statement_timestamp()" in index_conditions(rows[0][0])


def index_conditions(plan: Any) -> str:
    """All conditions of a plan that an index judges."""
    found: list[str] = []

    def walk(node: Mapping[str, Any]) -> None:
        found.append(str(node.get("Index Cond", "")))
        for child in node.get("Plans", ()):
            walk(child)

    walk((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])
    return " ".join(found)
