"""Leaders: one at a time, fenced by their epoch."""

import select
import threading
from functools import partial

import pytest
from django.db import connection, transaction

from tasks_app.core.states import Status
from tasks_app.models import Leader, Sample, Shift
from tasks_app.services.dispatch import supervisor
from tasks_app.services.dispatch.rounds import Deposed, run_round
from tasks_app.services.dispatch.supervisor import ShiftReport, run_shift, supervise
from tasks_app.store.dispatch import leader
from tasks_app.store.reads.dispatch.leader_status import read_duty
from tests.floor import Floor
from tests.waiting import wait_for


def test_only_one_replica_holds_the_lease(floor: Floor) -> None:
    assert leader.acquire("a", 10) == 1
    assert leader.acquire("b", 10) is None


def test_a_lease_that_ran_out_is_taken_over_with_a_higher_epoch(floor: Floor) -> None:
    leader.acquire("a", 0)
    assert leader.acquire("b", 10) == 2
    assert read_duty().holder == "b"


def test_a_round_of_a_deposed_leader_changes_nothing(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit()
    old = leader.acquire("a", 0)
    assert old is not None
    leader.acquire("b", 10)
    with pytest.raises(Deposed):
        run_round(old, 1, sweeping=True)
    assert floor.status(task) is Status.PENDING
    assert leader.free(old) is False


def test_a_shift_hands_out_what_is_submitted_while_it_waits(floor: Floor) -> None:
    stopping = threading.Event()
    floor.worker("w1")

    def lead() -> None:
        run_shift("test", stopping.is_set)
        connection.close()

    shift = threading.Thread(target=lead)
    shift.start()
    try:
        wait_for(lambda: read_duty().last_round_at is not None, "the record to show it")
        (task,) = floor.submit()
        wait_for(lambda: floor.status(task) is Status.ASSIGNED, "the record to show it")
        (grant,) = floor.claim("w1")
        floor.complete("w1", grant)
        wait_for(
            lambda: Sample.objects.filter(by_status={"COMPLETED": 1}).exists(),
            "the record to show it",
        )
    finally:
        stopping.set()
        shift.join(10)
    assert not shift.is_alive()
    assert read_duty().held is False, "the next one in line takes over at once"


def test_a_second_run_stands_by_and_takes_over_when_the_first_ends(floor: Floor) -> None:
    first_stop, second_stop = threading.Event(), threading.Event()

    def lead(name: str, stop: threading.Event) -> None:
        run_shift(name, stop.is_set)
        connection.close()

    first = threading.Thread(target=lead, args=("first", first_stop))
    second = threading.Thread(target=lead, args=("second", second_stop))
    first.start()
    wait_for(
        lambda: read_duty().holder == "first" and read_duty().last_round_at is not None,
        "the record to show it",
    )
    second.start()
    try:
        assert read_duty().holder == "first"
        first_stop.set()
        first.join(10)
        wait_for(lambda: read_duty().holder == "second", "the record to show it")
    finally:
        first_stop.set()
        second_stop.set()
        first.join(10)
        second.join(10)
    assert read_duty().epoch == 2


def test_a_supervisor_whose_session_ended_in_the_middle_of_a_round_takes_the_next_shift(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    shifts: list[str] = []

    def frozen_in_a_round(holder: str, _stopping: object) -> ShiftReport:
        shifts.append(holder)
        if len(shifts) > 1:
            return ShiftReport(led=True)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 1")
            # The server says goodbye on a connection that asks nothing.
            assert select.select([connection.connection.fileno()], [], [], 30)[0]
            cursor.execute("SELECT 1")
        raise AssertionError("the transaction went through")

    monkeypatch.setattr(supervisor, "run_shift", frozen_in_a_round)
    report = supervise("a", lambda: len(shifts) > 1)
    assert (report.led, shifts) == (True, ["a", "a"])


def leading_sessions() -> list[int]:
    """The server processes of this database's other sessions, the listening one among them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return [pid for (pid,) in cursor.fetchall()]


def has_run_a_round(epoch: int) -> bool:
    found = Leader.objects.get(id=1)
    return found.epoch == epoch and bool(
        found.since and found.last_round_at and found.last_round_at > found.since
    )


def test_a_leader_whose_connection_is_ended_leads_again_long_before_its_lease_is_over(
    floor: Floor,
) -> None:
    floor.settings(leader_lease_seconds=300.0, shift_seconds=300.0)
    stopping = threading.Event()

    def lead() -> None:
        supervise("test", stopping.is_set)
        connection.close()

    shift = threading.Thread(target=lead)
    shift.start()
    try:
        for epoch in (1, 2, 3):
            wait_for(partial(has_run_a_round, epoch), f"a round of epoch {epoch}", 30)
            with connection.cursor() as cursor:
                for pid in leading_sessions():
                    cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    finally:
        stopping.set()
        shift.join(20)
    assert not shift.is_alive()
    assert [each.ending for each in Shift.objects.order_by("epoch")][:2] == ["lost"] * 2


def test_a_lease_that_was_written_by_a_clock_far_ahead_is_not_waited_for(floor: Floor) -> None:
    leader.acquire("a", 10)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE leader SET since = since + interval '1 hour',"
            " expires_at = expires_at + interval '1 hour'"
        )
    assert leader.acquire("b", 10) == 2
    assert leader.acquire("c", 10) is None


def test_the_old_session_of_a_leader_that_came_back_is_fenced(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit()
    old = leader.acquire("a", 10)
    assert old is not None
    assert leader.acquire("a", 10) == old + 1
    with pytest.raises(Deposed):
        run_round(old, 1, sweeping=True)
    assert floor.status(task) is Status.PENDING
