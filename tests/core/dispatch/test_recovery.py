"""The scheduler-agent-supervisor seed, figure by figure."""

import pytest

from tasks_app.core.dispatch.recovery import RoundModel, daily_cost, run_rounds


def test_without_a_supervisor_four_jobs_run_for_ever_and_no_error_is_seen() -> None:
    result = run_rounds(RoundModel(supervised=False))
    assert (result.completed, result.steps_run, result.half_finished) == (8, 36, 4)
    assert (result.redriven, result.wasted) == (0, 0)
    assert (result.compensated_jobs, result.compensated_steps) == (0, 0)
    assert result.last_round == 5
    assert (result.mean_recovery, result.worst_recovery, result.wasted_share) == (0, 0, 0)


def test_with_a_supervisor_every_job_is_finished_or_compensated() -> None:
    result = run_rounds(RoundModel())
    assert (result.completed, result.steps_run, result.half_finished) == (11, 45, 0)
    assert (result.redriven, result.wasted, result.wasted_share) == (6, 3, 0.5)
    assert (result.compensated_jobs, result.compensated_steps) == (1, 1)
    assert result.last_round == 8


@pytest.mark.parametrize(
    ("scan", "mean", "worst", "last_round", "records_read"),
    [(1, 1.00, 1, 8, 96), (2, 1.33, 2, 8, 48), (4, 2.33, 4, 12, 36), (8, 5.67, 7, 24, 36)],
)
def test_scanning_less_often_recovers_as_much_but_later(
    scan: int, mean: float, worst: int, last_round: int, records_read: int
) -> None:
    result = run_rounds(RoundModel(scan=scan))
    assert result.completed == 11
    assert round(result.mean_recovery, 2) == mean
    assert (result.worst_recovery, result.last_round) == (worst, last_round)
    assert result.records_read == records_read


@pytest.mark.parametrize(
    ("stall_share", "stalled", "redrives", "wasted", "half_finished", "job_share"),
    [(0.005, 80, 320, 80, 160, 0.04), (0.01, 160, 400, 160, 240, 0.06)],
)
def test_a_days_cost_is_the_seeds(
    stall_share: float,
    stalled: float,
    redrives: float,
    wasted: float,
    half_finished: float,
    job_share: float,
) -> None:
    cost = daily_cost(stall_share)
    assert (cost.stalled_steps, cost.redrives, cost.wasted_steps) == (stalled, redrives, wasted)
    assert (cost.half_finished_unsupervised, cost.job_share) == (half_finished, job_share)


def test_a_longer_lease_finds_the_same_jobs_later() -> None:
    short, long = run_rounds(RoundModel(scan=1, lease=2)), run_rounds(RoundModel(scan=1, lease=5))
    assert short.completed == long.completed
    assert long.mean_recovery == 4
    assert long.last_round > short.last_round
