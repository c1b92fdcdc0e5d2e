"""The figures behind the dashboard's advice."""

import pytest

from tasks_app.core.dispatch.advice import StaleAfter, ceiling, pinned_worker, stale_after_from_p99
from tests.core.facts_made import a_worker


def test_one_supervisor_keeps_41_workers_busy() -> None:
    assert ceiling(6.2, 0.15) == 41


def test_a_supervisor_that_works_itself_keeps_one_busy() -> None:
    assert ceiling(6.2, 6.2) == 1


def test_a_quotient_that_rounding_puts_just_below_counts_whole() -> None:
    assert ceiling(0.3, 0.1) == 3


@pytest.mark.parametrize(("task_seconds", "dispatch_seconds"), [(0, 0.1), (6.2, 0)])
def test_before_anything_is_measured_there_is_no_ceiling(
    task_seconds: float, dispatch_seconds: float
) -> None:
    assert ceiling(task_seconds, dispatch_seconds) is None


def test_a_p99_of_18_seconds_suggests_up_to_90() -> None:
    assert stale_after_from_p99(18) == StaleAfter(shortest=54, longest=90)


class TestPinnedWorker:
    pinned = a_worker(1, active=3, queued_seconds=30)

    def test_one_pinned_and_two_idle_are_named(self) -> None:
        found = pinned_worker([a_worker(2), self.pinned, a_worker(3)])
        assert found is not None
        assert (found.name, found.queued_seconds, found.waiting) == ("w1", 30, 2)
        assert found.idle == ["w2", "w3"]

    def test_a_fleet_that_is_busy_throughout_has_none(self) -> None:
        busy = [a_worker(number, active=3, queued_seconds=9) for number in (2, 3)]
        assert pinned_worker([self.pinned, *busy]) is None

    def test_a_worker_with_nothing_queued_behind_its_slots_is_not_pinned(self) -> None:
        assert pinned_worker([a_worker(1, active=1, queued_seconds=30), a_worker(2)]) is None

    def test_workers_that_can_do_nothing_of_it_do_not_count_as_idle(self) -> None:
        others = [a_worker(number, skills={"paint": 1.0}) for number in (2, 3)]
        assert pinned_worker([self.pinned, *others]) is None

    def test_a_worker_that_is_leaving_does_not_count_as_idle(self) -> None:
        assert pinned_worker([self.pinned, a_worker(2, draining=True)]) is None

    def test_one_idle_worker_among_many_busy_ones_is_no_sign(self) -> None:
        busy = [a_worker(number, active=1, queued_seconds=1) for number in (3, 4)]
        assert pinned_worker([self.pinned, a_worker(2), *busy]) is None

    def test_of_two_pinned_workers_the_longer_queue_is_named(self) -> None:
        also = a_worker(4, active=9, queued_seconds=29)
        found = pinned_worker([also, self.pinned, a_worker(2), a_worker(3)])
        assert found is not None
        assert found.name == "w1"
