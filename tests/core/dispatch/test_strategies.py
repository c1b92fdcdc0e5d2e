"""Who gets a task: each strategy by its own rule, and the seeds' comparison of them."""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean

from hypothesis import given

from tasks_app.core.dispatch.dispatch import plan_dispatch
from tasks_app.core.dispatch.strategies import MOST_SKILLS, SKILL_STEP, STRATEGIES
from tasks_app.core.dispatch.worker_loads import LoadKey, WorkerLoad, by_count, by_seconds, by_wait
from tasks_app.core.facts import (
    KindPolicy,
    Left,
    Load,
    Snapshot,
    StrategyName,
    TaskFacts,
    WorkerFacts,
)
from tests.core.facts_made import (
    SEED_DURATIONS,
    a_snapshot,
    a_task,
    a_worker,
    given_to,
    in_order,
    snapshots,
    workers_given,
)

SEED_TASKS = [a_task(number, seconds) for number, seconds in enumerate(SEED_DURATIONS, start=1)]
THREE = [a_worker(1), a_worker(2), a_worker(3)]


def kind(strategy: StrategyName, load: Load = Load.SECONDS, cursor: int = 0) -> KindPolicy:
    return KindPolicy("draft", strategy, load=load, cursor=cursor)


def test_every_strategy_name_has_its_strategy() -> None:
    assert set(STRATEGIES) == set(StrategyName)


class TestRoundRobin:
    ring = kind(StrategyName.ROUND_ROBIN)

    def test_without_a_bound_the_first_of_three_gets_tasks_1_4_and_7(self) -> None:
        plan = plan_dispatch(a_snapshot(SEED_TASKS, THREE, self.ring))
        assert [task for task, worker in given_to(plan) if worker == 1] == [1, 4, 7]

    def test_the_turns_are_by_name_whatever_order_the_record_gives(self) -> None:
        workers = [a_worker(3, active=1), a_worker(1, active=2), a_worker(2)]
        plan = plan_dispatch(a_snapshot(SEED_TASKS[:3], workers, self.ring))
        assert workers_given(plan) == [1, 2, 3]

    def test_the_next_round_goes_on_where_this_one_stopped(self) -> None:
        first = plan_dispatch(a_snapshot([a_task(1), a_task(2)], THREE, self.ring))
        assert first.cursors == {"draft": 2}
        later = kind(StrategyName.ROUND_ROBIN, cursor=first.cursors["draft"])
        second = plan_dispatch(a_snapshot([a_task(3), a_task(4)], THREE, later))
        assert workers_given(first) + workers_given(second) == [1, 2, 3, 1]

    def test_a_full_worker_is_passed_over_and_its_neighbour_gets_no_second_turn(self) -> None:
        workers = [a_worker(1, active=1, queued_seconds=5), *THREE[1:]]
        given: list[int] = []
        cursor = 0
        # One task a round, and its worker is free again by the next: the turns stay even.
        for number in range(1, 5):
            ring = kind(StrategyName.ROUND_ROBIN, cursor=cursor)
            plan = plan_dispatch(a_snapshot([a_task(number)], workers, ring, backlog=0))
            cursor = plan.cursors["draft"]
            given += workers_given(plan)
        assert given == [2, 3, 2, 3]

    def test_when_all_are_full_the_rest_stays_and_the_cursor_with_it(self) -> None:
        plan = plan_dispatch(a_snapshot(SEED_TASKS, THREE, self.ring, backlog=0))
        assert workers_given(plan) == [1, 2, 3]
        assert plan.cursors == {"draft": 3}
        assert set(plan.left.values()) == {Left.ALL_BUSY}

    def test_every_slot_is_filled_from_wherever_the_ring_stands(self) -> None:
        workers = [a_worker(1, slots=2), a_worker(2, slots=1), a_worker(3, slots=4)]
        tasks = [a_task(number) for number in range(1, 12)]
        for cursor in range(7):
            ring = kind(StrategyName.ROUND_ROBIN, cursor=cursor)
            plan = plan_dispatch(a_snapshot(tasks, workers, ring, backlog=0))
            assert Counter(workers_given(plan)) == {1: 2, 2: 1, 3: 4}


class TestLeastLoaded:
    def test_in_seconds_it_follows_the_seeds_trace(self) -> None:
        plan = plan_dispatch(a_snapshot(SEED_TASKS, THREE, kind(StrategyName.LEAST_LOADED)))
        assert workers_given(plan) == [1, 2, 3, 2, 3, 3, 3, 1, 1]

    def test_by_count_it_deals_out_like_the_ring(self) -> None:
        by_number = kind(StrategyName.LEAST_LOADED, Load.COUNT)
        plan = plan_dispatch(a_snapshot(SEED_TASKS, THREE, by_number))
        assert workers_given(plan) == [1, 2, 3] * 3

    def test_load_is_counted_per_slot(self) -> None:
        workers = [a_worker(1, active=1, queued_seconds=5), a_worker(2, slots=8, active=4)]
        for load in Load:
            policy = kind(StrategyName.LEAST_LOADED, load)
            plan = plan_dispatch(a_snapshot([a_task(1)], workers, policy))
            assert workers_given(plan) == [2]

    def test_tasks_of_unknown_length_do_not_all_go_to_the_first_by_name(self) -> None:
        tasks = [a_task(number, estimate=0) for number in range(1, 7)]
        plan = plan_dispatch(a_snapshot(tasks, THREE, kind(StrategyName.LEAST_LOADED)))
        assert Counter(workers_given(plan)) == {1: 2, 2: 2, 3: 2}


class TestCapability:
    specialist = a_worker(1, skills={"draft": 1.0})
    generalist = a_worker(2, skills={"draft": 0.25})
    best = kind(StrategyName.CAPABILITY)

    def test_the_specialist_takes_4_seconds_where_the_ring_takes_10_on_average(self) -> None:
        tasks = [a_task(number, estimate=4) for number in range(1, 11)]
        means = {
            strategy: fmean(
                item.expected
                for item in plan_dispatch(
                    a_snapshot(tasks, [self.specialist, self.generalist], kind(strategy))
                ).assignments
            )
            for strategy in (StrategyName.CAPABILITY, StrategyName.ROUND_ROBIN)
        }
        assert means == {StrategyName.CAPABILITY: 4, StrategyName.ROUND_ROBIN: 10}

    def test_it_waits_for_the_best_rather_than_take_the_next(self) -> None:
        workers = [self.specialist, self.generalist]
        plan = plan_dispatch(a_snapshot([a_task(1), a_task(2)], workers, self.best, backlog=0))
        assert given_to(plan) == [(1, 1)]
        assert plan.left == {a_task(2).id: Left.BEST_BUSY}

    def test_equally_good_workers_share_by_load(self) -> None:
        workers = [a_worker(1, active=1, queued_seconds=9), a_worker(2), self.generalist]
        plan = plan_dispatch(a_snapshot([a_task(1, 10), a_task(2)], workers[:2], self.best))
        assert workers_given(plan) == [2, 1]

    def test_it_does_not_wait_for_one_that_is_leaving(self) -> None:
        leaving = a_worker(1, skills={"draft": 9.0}, draining=True)
        plan = plan_dispatch(a_snapshot([a_task(1)], [leaving, self.generalist], self.best))
        assert workers_given(plan) == [2]


class TestCapableLeastLoaded:
    finish = kind(StrategyName.CAPABLE_LEAST_LOADED)

    def test_the_fast_one_is_taken_until_its_queue_makes_the_slow_one_earlier(self) -> None:
        workers = [a_worker(1, skills={"draft": 1.0}), a_worker(2, skills={"draft": 0.25})]
        tasks = [a_task(number, estimate=4) for number in range(1, 6)]
        plan = plan_dispatch(a_snapshot(tasks, workers, self.finish))
        # 4, 8, 12, 16 (a tie: the higher skill), then 16 beats 20.
        assert workers_given(plan) == [1, 1, 1, 1, 2]

    def test_a_free_slot_starts_at_once_however_busy_the_others_are(self) -> None:
        busy_but_free = a_worker(1, slots=2, active=1, queued_seconds=1000)
        nearly_done = a_worker(2, active=1, queued_seconds=1)
        plan = plan_dispatch(a_snapshot([a_task(1)], [busy_but_free, nearly_done], self.finish))
        assert workers_given(plan) == [1]

    def test_among_free_slots_the_emptier_worker_is_taken(self) -> None:
        workers = [a_worker(1, slots=4, active=3, queued_seconds=3), a_worker(2, slots=4)]
        plan = plan_dispatch(a_snapshot([a_task(1)], workers, self.finish))
        assert workers_given(plan) == [2]

    def test_a_worker_without_room_is_no_choice_however_early_it_would_be(self) -> None:
        full = a_worker(1, active=1, queued_seconds=0.1, skills={"draft": 100.0})
        plan = plan_dispatch(a_snapshot([a_task(1)], [full, a_worker(2)], self.finish, backlog=0))
        assert workers_given(plan) == [2]

    def test_more_skills_than_are_compared_exactly_still_find_a_nearly_best_one(self) -> None:
        workers = [
            a_worker(number, skills={"draft": 1 + number / 1000}, active=1, queued_seconds=5)
            for number in range(5 * MOST_SKILLS)
        ]
        assignment = plan_dispatch(a_snapshot([a_task(1, 10)], workers, self.finish)).assignments[0]
        best = min(10 / worker.skills["draft"] for worker in workers)
        assert assignment.expected <= best * SKILL_STEP


class TestTwoChoices:
    def test_of_two_workers_the_less_loaded_is_always_taken(self) -> None:
        workers = [a_worker(1, active=1, queued_seconds=7), a_worker(2)]
        plan = plan_dispatch(a_snapshot(SEED_TASKS[:4], workers, kind(StrategyName.TWO_CHOICES)))
        # 7/0, 7/10, 9/10, 11/10.
        assert workers_given(plan) == [2, 1, 1, 2]

    def test_it_is_far_more_even_than_chance(self) -> None:
        workers = [a_worker(number) for number in range(100)]
        tasks = [a_task(number) for number in range(1000)]
        by_number = kind(StrategyName.TWO_CHOICES, Load.COUNT)
        plan = plan_dispatch(a_snapshot(tasks, workers, by_number))
        # One random choice for 1,000 tasks over 100 workers gives its fullest about 19.
        assert max(Counter(workers_given(plan)).values()) <= 13


Chooser = Callable[[TaskFacts, Sequence[WorkerLoad], KindPolicy], WorkerLoad]


def least_loaded(_: TaskFacts, loads: Sequence[WorkerLoad], policy: KindPolicy) -> WorkerLoad:
    return min(loads, key=by_seconds if policy.load is Load.SECONDS else by_count)


def first_to_finish(task: TaskFacts, loads: Sequence[WorkerLoad], _: KindPolicy) -> WorkerLoad:
    def finish(load: WorkerLoad) -> LoadKey:
        skill = load.facts.skills[task.kind]
        expected = load.wait + task.estimate * (1 / skill)
        # Waits so unlike the estimate that their sums are equal still differ.
        return expected, -skill, *by_wait(load)

    return min(loads, key=finish)


def one_by_one(snapshot: Snapshot, choose: Chooser) -> list[tuple[int, int]]:
    """What a strategy says when it looks at every worker for every task."""
    facts: list[WorkerFacts] = sorted(snapshot.workers, key=lambda worker: worker.name)
    loads = [WorkerLoad(worker, rank, snapshot.backlog) for rank, worker in enumerate(facts)]
    given = []
    for task in in_order(snapshot):
        policy = snapshot.kinds[task.kind]
        able = [
            load
            for load in loads
            if task.kind in load.facts.skills and load.room >= 1 and not load.facts.draining
        ]
        if able and not policy.paused:
            load = choose(task, able, policy)
            load.take(task.estimate / load.facts.skills[task.kind])
            given.append((task.id.int, load.facts.id.int))
    return given


@given(snapshots(StrategyName.LEAST_LOADED))
def test_the_heaps_of_least_loaded_say_what_looking_at_everybody_says(snapshot: Snapshot) -> None:
    assert given_to(plan_dispatch(snapshot)) == one_by_one(snapshot, least_loaded)


@given(snapshots(StrategyName.CAPABLE_LEAST_LOADED))
def test_the_heaps_by_skill_say_what_looking_at_everybody_says(snapshot: Snapshot) -> None:
    assert given_to(plan_dispatch(snapshot)) == one_by_one(snapshot, first_to_finish)
