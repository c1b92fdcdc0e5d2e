"""Whole runs on a virtual clock: the seeds' comparison of strategies, and what holds of any run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.dispatch import dispatch, simulation
from tasks_app.core.dispatch.advice import ceiling
from tasks_app.core.dispatch.simulation import SimResult, SimTask, SimWorker, simulate
from tasks_app.core.facts import KindPolicy, Load, Order, StrategyName
from tests.core.facts_made import SEED_DURATIONS, nearly


def a_fleet(size: int, slots: int = 1) -> list[SimWorker]:
    return [SimWorker(f"w{number:03}", {"draft": 1.0}, slots) for number in range(1, size + 1)]


def the_seeds_run(policy: KindPolicy) -> SimResult:
    """Nine tasks, handed out at once to three workers of one slot."""
    tasks = [SimTask("draft", seconds) for seconds in SEED_DURATIONS]
    return simulate(tasks, a_fleet(3), [policy], backlog=None)


@pytest.mark.parametrize(
    ("policy", "makespan"),
    [
        (KindPolicy("draft", StrategyName.ROUND_ROBIN), 30),
        (KindPolicy("draft", StrategyName.LEAST_LOADED), 16),
        (KindPolicy("draft", StrategyName.LEAST_LOADED, load=Load.COUNT), 30),
        (KindPolicy("draft", StrategyName.LEAST_LOADED, Order.LONGEST_FIRST), 14),
        (KindPolicy("draft", StrategyName.CAPABLE_LEAST_LOADED), 16),
        (KindPolicy("draft", StrategyName.CAPABLE_LEAST_LOADED, Order.LONGEST_FIRST), 14),
    ],
    ids=lambda value: (
        f"{value.strategy}, {value.order}, {value.load}"
        if isinstance(value, KindPolicy)
        else f"{value} s"
    ),
)
def test_the_nine_tasks_of_the_seed_take_as_long_as_it_says(
    policy: KindPolicy, makespan: float
) -> None:
    assert the_seeds_run(policy).makespan == makespan


def test_the_ring_leaves_two_of_three_workers_idle_for_80_percent_of_the_run() -> None:
    result = the_seeds_run(KindPolicy("draft", StrategyName.ROUND_ROBIN))
    assert result.busy == {"w001": 30, "w002": 6, "w003": 6}
    assert result.idle_share == pytest.approx({"w001": 0, "w002": 0.8, "w003": 0.8})


def test_a_bounded_backlog_cures_the_ring() -> None:
    tasks = [SimTask("draft", seconds) for seconds in SEED_DURATIONS]
    ring = KindPolicy("draft", StrategyName.ROUND_ROBIN)
    assert simulate(tasks, a_fleet(3), [ring], backlog=0).makespan < 20


def test_the_simulator_decides_with_the_supervisors_own_function() -> None:
    assert vars(simulation)["plan_dispatch"] is dispatch.plan_dispatch


def test_a_wrong_estimate_does_not_change_how_long_the_work_takes() -> None:
    tasks = [SimTask("draft", 10, estimate=1), SimTask("draft", 1, estimate=10)]
    result = simulate(tasks, a_fleet(1), [], backlog=None)
    assert result.makespan == 11
    assert [(run.task, run.started, run.ended) for run in result.runs] == [(0, 0, 10), (1, 10, 11)]


def test_tasks_wait_for_their_arrival_and_skill_divides_their_duration() -> None:
    worker = SimWorker("w1", {"draft": 2.0})
    result = simulate([SimTask("draft", 10, at=3)], [worker], [])
    assert [(run.started, run.ended) for run in result.runs] == [(3, 8)]


def test_a_task_nobody_can_do_is_left_and_the_run_ends() -> None:
    result = simulate([SimTask("draft", 1), SimTask("paint", 1)], a_fleet(1), [])
    assert (result.left, result.makespan) == ([1], 1)


def test_nothing_to_do_takes_no_time() -> None:
    result = simulate([], a_fleet(2), [])
    assert (result.makespan, result.left) == (0, [])


def test_more_workers_than_the_ceiling_add_nothing() -> None:
    task_seconds, dispatch_seconds = 6.2, 0.15
    tasks = [SimTask("draft", task_seconds)] * 300
    most = ceiling(task_seconds, dispatch_seconds)
    assert most == 41

    def makespan(workers: int) -> float:
        fleet = a_fleet(workers)
        return simulate(tasks, fleet, [], backlog=0, dispatch_seconds=dispatch_seconds).makespan

    assert makespan(20) > 1.8 * makespan(most)
    assert makespan(2 * most) >= 0.97 * makespan(most)


durations = st.floats(0.01, 1000)


@given(
    st.lists(st.tuples(durations, st.floats(0, 50)), min_size=1, max_size=40),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.sampled_from([None, 0.0, 1.0]),
    st.sampled_from(list(StrategyName)),
)
def test_every_task_is_run_once_and_no_slot_runs_two_at_a_time(
    arrivals: list[tuple[float, float]],
    slots: list[int],
    backlog: float | None,
    strategy: StrategyName,
) -> None:
    tasks = [SimTask("draft", duration, at=at) for duration, at in arrivals]
    fleet = [SimWorker(f"w{at}", {"draft": 1.0}, count) for at, count in enumerate(slots)]
    result = simulate(tasks, fleet, [KindPolicy("draft", strategy)], backlog=backlog)
    assert sorted(run.task for run in result.runs) == list(range(len(tasks)))
    for worker in fleet:
        runs = [run for run in result.runs if run.worker == worker.name]
        for run in runs:
            at_once = sum(other.started <= run.started < other.ended for other in runs)
            assert at_once <= worker.slots


@given(
    st.lists(durations, min_size=1, max_size=40),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.sampled_from(list(Order)),
)
def test_on_free_slots_only_the_run_is_within_grahams_bound(
    seconds: list[float], slots: list[int], order: Order
) -> None:
    tasks = [SimTask("draft", duration) for duration in seconds]
    fleet = [SimWorker(f"w{at}", {"draft": 1.0}, count) for at, count in enumerate(slots)]
    policy = KindPolicy("draft", StrategyName.CAPABLE_LEAST_LOADED, order)
    machines = sum(slots)
    bound = sum(seconds) / machines + (1 - 1 / machines) * max(seconds)
    assert simulate(tasks, fleet, [policy], backlog=0).makespan <= nearly(bound)


@given(
    st.lists(durations, min_size=1, max_size=40),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
)
def test_handed_out_at_once_with_true_estimates_it_is_within_the_same_bound(
    seconds: list[float], slots: list[int]
) -> None:
    tasks = [SimTask("draft", duration) for duration in seconds]
    fleet = [SimWorker(f"w{at}", {"draft": 1.0}, count) for at, count in enumerate(slots)]
    machines = sum(slots)
    bound = sum(seconds) / machines + (1 - 1 / machines) * max(seconds)
    assert simulate(tasks, fleet, [], backlog=None).makespan <= nearly(bound)
