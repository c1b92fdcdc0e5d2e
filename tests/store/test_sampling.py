"""Samples and the rollup of counts."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import Sum

from tasks_app.models import Sample, StatusCount, StatusDelta
from tasks_app.services.dispatch.sampler import Sampler
from tasks_app.store.dispatch import sampling
from tasks_app.store.reads.dispatch.counts import count_by_kind, count_by_status
from tests.floor import Floor

MINUTE = (datetime.now(UTC) - timedelta(minutes=5)).replace(second=0, microsecond=0)


def sample_at(at: datetime, resolution: int = 1, **values: object) -> None:
    """Write a sample of another time."""
    Sample.objects.create(resolution=resolution, at=at, **{"by_status": {}, "active": {}, **values})


def test_a_sample_shows_the_three_numbers(floor: Floor) -> None:
    floor.settings(backlog=None)
    floor.worker("w1")
    floor.worker("w2")
    (first, *_) = floor.submit(3)
    floor.round()
    (grant, *_) = floor.claim("w1")
    floor.complete("w1", grant)
    sampler = Sampler()
    sampler.sample(floor.epoch, 10)
    shown = Sample.objects.get()
    left_with_w1 = floor.beat("w1") and sum(1 for _ in floor.claim("w1"))
    assert sum(shown.by_status.values()) == 3
    assert shown.by_status["COMPLETED"] == 1
    assert set(shown.active) == {"w1", "w2"}
    assert sum(shown.active.values()) == 2
    assert left_with_w1 <= 1
    assert shown.oldest_created_at is not None
    assert shown.oldest_created_at >= floor.task(first).created_at


def test_a_second_sample_counts_what_was_completed_since_the_first(floor: Floor) -> None:
    floor.worker("w1", slots=3)
    floor.submit(3)
    sampler = Sampler()
    floor.round()
    sampler.sample(floor.epoch, 10)
    for grant in floor.claim("w1"):
        floor.started_ago(grant, 2)
        floor.complete("w1", grant)
    sampler.sample(floor.epoch, 10)
    first, second = Sample.objects.order_by("at")
    assert (first.completed, second.completed) == (0, 3)
    assert 6 <= second.busy_seconds < 7


def test_a_waiting_dependent_does_not_make_the_oldest_task_older(floor: Floor) -> None:
    from tasks_app.core.states import OnDead

    floor.worker("w1")
    (first,) = floor.submit()
    floor.submit(needs=[(first, OnDead.WAIT)])
    floor.round()
    (grant,) = floor.claim("w1")
    floor.fail("w1", grant, permanent=True)
    floor.round()
    Sampler().sample(floor.epoch, 10)
    assert Sample.objects.get().oldest_created_at is None, "what is left waits for a human"


def test_folding_leaves_the_counts_as_they_were(floor: Floor) -> None:
    floor.submit(5)
    before = count_by_status()
    sampling.fold_deltas(1000)
    assert count_by_status() == before == {"PENDING": 5}
    assert StatusDelta.objects.count() == 0
    assert StatusCount.objects.get().count == 5


def test_a_finished_minute_becomes_one_row_with_its_last_state_and_its_sums(record: None) -> None:
    sample_at(MINUTE + timedelta(seconds=1), by_status={"PENDING": 9}, dispatched=2, completed=1)
    sample_at(
        MINUTE + timedelta(seconds=59),
        by_status={"PENDING": 3},
        dispatched=3,
        completed=4,
        longest_round_seconds=0.5,
        gone=7,
    )
    assert sampling.roll_up_minutes() == 1
    assert sampling.roll_up_minutes() == 0
    minute = Sample.objects.get(resolution=60)
    assert minute.at == MINUTE
    assert minute.by_status == {"PENDING": 3}
    assert (minute.dispatched, minute.completed, minute.longest_round_seconds) == (5, 5, 0.5)
    assert minute.gone == 7, "what was pruned goes on to count as done"


def test_seconds_are_kept_for_an_hour_and_minutes_for_thirty_days(record: None) -> None:
    now = datetime.now(UTC)
    sample_at(now - timedelta(minutes=50))
    sample_at(now - timedelta(minutes=61))
    sample_at(now - timedelta(days=29), resolution=60)
    sample_at(now - timedelta(days=31), resolution=60)
    sampling.roll_up_minutes()
    seconds = Sample.objects.filter(resolution=1).values_list("at", flat=True)
    assert list(seconds) == [now - timedelta(minutes=50)]
    days = Sample.objects.filter(resolution=60, at__lt=now - timedelta(days=1))
    assert [s.at for s in days] == [now - timedelta(days=29)]


def test_samples_add_up_to_all_completions_whoever_leads(floor: Floor) -> None:
    floor.worker("w1", slots=50)
    floor.lead()
    sampler, completed = Sampler(), 0
    for shift in range(4):
        for _ in range(2):
            floor.submit(10)
            floor.round()
            for grant in floor.claim("w1"):
                floor.complete("w1", grant)
                completed += 1
            sampler.sample(floor.epoch, 60.0)
        if shift % 2:
            floor.lead()
        sampler = Sampler()
    written = Sample.objects.filter(resolution=1).aggregate(n=Sum("completed"))["n"]
    assert written == completed == 80
    busy = Sample.objects.filter(resolution=1).aggregate(s=Sum("busy_seconds"))["s"]
    assert busy == pytest.approx(sum(each.busy_seconds for each in count_by_kind()))
