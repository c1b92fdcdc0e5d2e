"""The end of a day on real workers: the lesson's figures, read back from the record."""

import json
import subprocess
import sys

import pytest

from controlplane.environment import ROOT
from examples.end_of_day.plans import (
    COMPENSATIONS,
    DISCOUNT,
    NEVER,
    STALL,
    large_day,
    plans_of,
    seed_day,
)
from tasks_app.core.dispatch.recovery import STEPS, daily_cost
from tasks_app.core.jobs.plan_checks import check_plan

KEYS = (
    "completed",
    "compensated_jobs",
    "compensated_steps",
    "half_finished",
    "redriven",
    "wasted",
    "duplicate_invoice_lines",
)


def day(*options: str, seconds: float = 110) -> tuple[dict[str, int], str]:
    """Run a day to its end; return its figures and what it said beside them."""
    done = subprocess.run(
        [sys.executable, "-m", "examples.end_of_day.run", "--json", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    return json.loads(line), done.stderr


def figures(*values: int) -> dict[str, int]:
    return dict(zip(KEYS, values, strict=True))


def test_stalls_are_driven_again_and_what_never_passes_is_undone() -> None:
    report, _ = day()
    assert report == figures(11, 1, 1, 0, 6, 3, 0)


def test_without_a_sweep_four_jobs_never_end_and_nothing_says_so() -> None:
    report, said = day("--no-sweep")
    assert report == figures(8, 0, 0, 4, 0, 0, 0)
    assert "0 errors were seen anywhere" in said


@pytest.mark.slow
@pytest.mark.parametrize(("options", "duplicates"), [((), 0), (("--ignore-key",), 3)])
def test_three_stalled_invoices_stand_twice_only_where_the_key_is_ignored(
    options: tuple[str, ...], duplicates: int
) -> None:
    report, _ = day("--stall-at", "invoice", *options)
    assert report == figures(11, 1, 1, 0, 6, 3, duplicates)


@pytest.mark.slow
@pytest.mark.timeout(700)
def test_a_whole_day_leaves_nothing_half_finished() -> None:
    report, _ = day("--jobs", "4000", "--persistent", "0.02", "--stall", "0.005", seconds=680)
    assert report == figures(3920, 80, 80, 0, 320, 80, 0)
    cost = daily_cost(0.005)
    assert (report["redriven"], report["wasted"]) == (cost.redrives, cost.wasted_steps)


def test_plans_of_a_day_have_no_fault_and_fail_where_they_are_told_to() -> None:
    kinds = {*STEPS, *COMPENSATIONS.values()}
    plans = list(plans_of(seed_day(12)))
    assert [check_plan(plan, kinds).faults for plan in plans] == [()] * 12
    told = {
        (plan["name"], step["name"]): step["payload"]["rehearse"]
        for plan in plans
        for step in plan["steps"]
        if "rehearse" in step["payload"]
    }
    assert told == {
        ("end of day, S2", "discount"): STALL,
        ("end of day, S5", "tariff"): STALL,
        ("end of day, S9", "invoice"): STALL,
        ("end of day, S7", "discount"): NEVER,
    }


def test_a_large_day_has_its_shares_to_the_job_and_no_stall_where_nothing_passes() -> None:
    made = large_day(1000, 0.03, 0.01)
    failing = {job for (job, _), how in made.rehearsed.items() if how == NEVER}
    stalling = {job for (job, _), how in made.rehearsed.items() if how == STALL}
    assert (len(failing), len(stalling), failing & stalling) == (30, 40, set())
    assert {step for (job, step) in made.rehearsed if job in failing} == {DISCOUNT}
    with pytest.raises(ValueError, match="are to fail"):
        large_day(10, 0.5, 0.5)
