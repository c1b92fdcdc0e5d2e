"""The samples as charts get them: in order, thinned, with every gap."""

from datetime import UTC, datetime, timedelta

import pytest

from tasks_app.models import Sample
from tasks_app.store.reads.dispatch import series
from tasks_app.store.reads.dispatch.series import POINTS, RANGES, Range
from tests.floor import Floor

FIVE_MINUTES, ONE_HOUR, ONE_DAY, THIRTY_DAYS = RANGES


@pytest.fixture
def now(record: None) -> datetime:
    """An instant on a whole minute, so that no step of thinning is cut in two by chance."""
    return datetime.now(UTC).replace(microsecond=0)


def write(at: datetime, resolution: int = 1, *, completed: int = 0, **values: object) -> None:
    Sample.objects.create(
        resolution=resolution, at=at, by_status={"COMPLETED": completed}, **values
    )


def write_each(
    now: datetime, seconds: int, step: int = 1, resolution: int = 1, skip: range = range(0)
) -> None:
    Sample.objects.bulk_create(
        Sample(
            resolution=resolution,
            at=now - timedelta(seconds=ago),
            by_status={"COMPLETED": seconds - ago},
            active={"w1": 1},
        )
        for ago in range(0, seconds, step)
        if ago not in skip
    )


@pytest.mark.parametrize("span", RANGES, ids=lambda span: span.name)
def test_a_range_has_at_most_as_many_points_as_a_chart_can_show(span: Range, now: datetime) -> None:
    write_each(now, span.seconds, span.resolution, span.resolution)
    points = series.series(span)
    assert POINTS / 3 < len(points) <= POINTS + 1
    assert [point.at for point in points] == sorted(point.at for point in points)
    assert not any(point.gap for point in points)
    # The newest sample is never thinned away.
    assert points[-1].at == now.timestamp()


@pytest.mark.parametrize(("missing", "gap"), [(2, False), (3, True)])
def test_a_gap_is_more_than_three_seconds_without_a_sample(
    missing: int, gap: bool, now: datetime
) -> None:
    write_each(now, 60, skip=range(10, 10 + missing))
    points = series.series(FIVE_MINUTES)
    assert [point.at for point in points if point.gap] == (
        [(now - timedelta(seconds=9)).timestamp()] if gap else []
    )


def test_a_gap_shorter_than_a_step_is_seen_through_the_thinning(now: datetime) -> None:
    assert ONE_HOUR.step == 6
    write_each(now, 3000, skip=range(100, 105))
    gaps = [point for point in series.series(ONE_HOUR) if point.gap]
    assert len(gaps) == 1
    assert abs(gaps[0].at - (now - timedelta(seconds=99)).timestamp()) <= ONE_HOUR.step


def test_a_page_that_was_away_gets_only_what_it_missed_and_the_gap_before(now: datetime) -> None:
    write_each(now, 20)
    newest = (now - timedelta(seconds=10)).timestamp()
    points = series.series(FIVE_MINUTES, after=newest)
    assert [point.at for point in points] == [newest + n for n in range(1, 11)]
    assert not points[0].gap
    late = series.series(FIVE_MINUTES, after=(now - timedelta(seconds=60)).timestamp())
    assert (len(late), late[0].gap, any(p.gap for p in late[1:])) == (20, True, False)


def test_older_samples_and_other_resolutions_stay_out(now: datetime) -> None:
    write(now - timedelta(seconds=301), completed=1)
    write(now - timedelta(seconds=60), 60, completed=2)
    write(now - timedelta(seconds=30), completed=3)
    points = series.series(FIVE_MINUTES)
    assert [point.by_status for point in points] == [{"COMPLETED": 3}]
    assert [point.by_status for point in series.series(ONE_DAY)] == [{"COMPLETED": 2}]


def test_an_empty_record_has_no_points_and_no_figures(record: None) -> None:
    assert series.series(THIRTY_DAYS) == []
    assert series.latest_point() is None
    assert series.read_oldest().age is None
    assert series.completed_per_second(0, 10) is None
    assert series.read_costs() == series.Costs(None, None)


def test_the_oldest_age_is_read_from_the_tasks_and_not_from_a_sample(now: datetime) -> None:
    floor = Floor()
    floor.submit(1)
    before = series.read_oldest().age
    assert before is not None
    after = series.read_oldest().age
    assert after is not None
    assert 0 <= before < after < 60
    floor.worker("w1")
    floor.round()
    floor.complete("w1", floor.claim("w1")[0])
    assert series.read_oldest().age is None


def test_throughput_counts_what_no_supervisor_sampled(now: datetime) -> None:
    write(now - timedelta(seconds=100), completed=50)
    rate = series.completed_per_second(150, ago=10)
    assert rate == pytest.approx(1.0, rel=0.1)


def test_throughput_of_a_young_record_is_taken_since_it_began(now: datetime) -> None:
    write(now - timedelta(seconds=20), completed=0)
    write(now - timedelta(seconds=10), completed=20)
    assert series.completed_per_second(20, ago=300) == pytest.approx(1.0, rel=0.2)
    assert series.completed_per_second(20, ago=10) == pytest.approx(0.0, abs=0.01)


def test_d_and_t_are_ratios_of_sums(now: datetime) -> None:
    write(now, dispatched=10, dispatch_seconds=0.5, busy_seconds=60.0)
    write(now - timedelta(seconds=1), dispatched=30, dispatch_seconds=0.5)
    Sample.objects.filter(at=now).update(completed=20)
    costs = series.read_costs()
    assert costs.dispatch_seconds == pytest.approx(0.025)
    assert costs.task_seconds == pytest.approx(3.0)


@pytest.mark.parametrize("resolution", [1, 60])
def test_what_was_pruned_goes_on_to_count_as_done(resolution: int, now: datetime) -> None:
    write(now - timedelta(seconds=90 * resolution), resolution, completed=9)
    write(now - timedelta(seconds=20), resolution, completed=3, gone=8)
    span = FIVE_MINUTES if resolution == 1 else ONE_DAY
    assert [point.done for point in series.series(span)] == [9, 11]
