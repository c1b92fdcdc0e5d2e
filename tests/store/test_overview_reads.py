"""The overview's figures, read from a real floor."""

import psycopg
from django.db.models.functions import Now

from controlplane.embedded import Server
from tasks_app.core.alerts.detection import PinnedWorker, Unserved
from tasks_app.core.states import OnDead
from tasks_app.models import Worker
from tasks_app.services.actions import operations
from tasks_app.services.people.people import Actor
from tasks_app.store.reads.dispatch.overview import WORKERS_SHOWN, read_overview
from tasks_app.store.reads.dispatch.vacuum_horizon import oldest_snapshot
from tests.floor import Floor

SEEDS = [10.0, 2.0, 2.0, 10.0, 2.0, 2.0, 10.0, 2.0, 2.0]


def seeds_handed_out(floor: Floor) -> None:
    floor.settings(backlog=None)
    floor.kind("job", strategy="round_robin")
    for name in ("w1", "w2", "w3"):
        floor.worker(name)
    floor.submit(estimates=SEEDS)
    floor.round()


def test_the_seeds_nine_tasks_pin_one_worker_and_the_alert_says_by_what(record: None) -> None:
    floor = Floor()
    seeds_handed_out(floor)
    assert [row.share for row in read_overview(15.0).workers.rows] == [100, 20, 20]
    for name in ("w2", "w3"):
        for _ in range(3):
            (grant,) = floor.claim(name, 1)
            floor.complete(name, grant)
    seen = read_overview(15.0)
    (alert,) = (alert for alert in seen.alerts if isinstance(alert, PinnedWorker))
    assert (alert.pinned.name, alert.kind, alert.blind) == ("w1", "job", True)
    assert [(row.worker.name, row.worker.active, row.pinned) for row in seen.workers.rows] == [
        ("w1", 3, True),
        ("w2", 0, False),
        ("w3", 0, False),
    ]
    assert (seen.workers.live, seen.workers.idle, seen.workers.pinned) == (3, 2, "w1")
    assert (seen.work.done, seen.work.total, seen.work.unfinished) == (6, 9, 3)


def test_a_kind_that_nobody_can_do_is_named_until_somebody_can(record: None) -> None:
    floor = Floor()
    floor.worker("w1", skills={"other": 1.0})
    floor.submit(2, kind="job")
    assert Unserved(["job"]) in read_overview(15.0).alerts
    floor.worker("w2", skills={"job": 1.0})
    assert not any(isinstance(alert, Unserved) for alert in read_overview(15.0).alerts)
    operations.drain_worker(floor.workers["w2"], Actor("olivia"))
    assert Unserved(["job"]) in read_overview(15.0).alerts


def test_a_paused_kind_is_no_trouble(record: None) -> None:
    floor = Floor()
    floor.submit(1, kind="job")
    floor.kind("job", paused=True)
    assert not any(isinstance(alert, Unserved) for alert in read_overview(15.0).alerts)


def test_a_snapshot_in_another_database_holds_nothing_up_but_a_writer_there_does(
    record: None, postgres: Server
) -> None:
    with psycopg.connect(postgres.url("postgres")) as elsewhere:
        elsewhere.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        elsewhere.execute("SELECT count(*) FROM pg_class")
        assert oldest_snapshot() is None
        elsewhere.execute("SELECT pg_current_xact_id()")
        held = oldest_snapshot()
        assert held is not None
        assert held.pid == elsewhere.info.backend_pid


def test_workers_are_told_by_state(record: None) -> None:
    floor = Floor()
    for name in ("gone", "back", "drained", "silent", "well"):
        floor.worker(name)
    Worker.objects.filter(name__in=["gone", "back"]).update(state="lost", ended_at=Now())
    floor.worker("back")
    operations.drain_worker(floor.workers["drained"], Actor("olivia"))
    floor.silence("silent", 40)
    workers = read_overview(15.0).workers
    assert (workers.live, workers.draining, workers.late, workers.lost) == (4, 1, 1, 1)


def test_of_many_workers_the_most_loaded_are_shown_by_name(record: None) -> None:
    floor = Floor()
    floor.settings(backlog=None)
    for n in range(WORKERS_SHOWN + 4):
        floor.worker(f"w{n:02}", skills={f"kind{n}": 1.0})
        if n >= 4:
            floor.submit(n, kind=f"kind{n}")
    floor.round()
    rows = read_overview(15.0).workers.rows
    assert [row.worker.name for row in rows] == [f"w{n:02}" for n in range(4, WORKERS_SHOWN + 4)]


def test_what_was_closed_without_a_result_is_neither_done_nor_to_be_done(record: None) -> None:
    floor = Floor()
    floor.kind("job", max_attempts=1)
    floor.worker("w1", slots=2)
    floor.submit(2)
    floor.round()
    first, second = floor.claim("w1")
    floor.fail("w1", first)
    floor.complete("w1", second)
    assert (read_overview(15.0).work.total, read_overview(15.0).work.dead) == (2, 1)
    operations.dismiss([first.task_id], Actor("olivia"), "a test of the dismissal")
    work = read_overview(15.0).work
    assert (work.done, work.total, work.unfinished, work.dead, work.ends_at) == (1, 1, 0, 0, None)


def test_causes_are_grouped_and_the_commonest_come_first(record: None) -> None:
    floor = Floor()
    floor.kind("job", max_attempts=1)
    floor.settings(backlog=None)
    floor.worker("w1", slots=5)
    floor.submit(5)
    floor.round()
    for n, grant in enumerate(floor.claim("w1", 5)):
        if n < 2:
            floor.fail("w1", grant, type="app.ValidationError", message="payload.text is missing")
        else:
            floor.fail("w1", grant)
    causes = read_overview(15.0).causes
    assert [(cause.name, cause.tasks) for cause in causes] == [
        ("TimeoutError", 3),
        ("ValidationError", 2),
    ]


def test_work_that_waits_for_a_human_has_no_end_in_sight(record: None) -> None:
    floor = Floor()
    floor.worker("w1", slots=2)
    done, dead = floor.submit(2)
    floor.submit(needs=[(dead, OnDead.WAIT)])
    floor.round()
    for grant in floor.claim("w1"):
        if grant.task_id == done:
            floor.complete("w1", grant)
        else:
            floor.fail("w1", grant, permanent=True)
    floor.round()
    work = read_overview(15.0).work
    assert (work.unfinished, work.oldest_age, work.ends_at) == (1, None, None)
