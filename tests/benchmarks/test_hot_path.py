"""The benchmark of the hot path runs and reports what it promises; how fast is not judged here."""

import json
import os
import subprocess
import sys

import pytest

from controlplane.environment import ROOT


def run(*words: str) -> dict[str, dict[str, object]]:
    """Run a tiny benchmark on its own server and return its report."""
    # It sets up a server of its own, and must not be led to this run's.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("CHARGEHAND", "DATA"))}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.hot_path", "--json", "--repeat", "1", *words],
        cwd=ROOT,
        env=inherited,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    report: dict[str, dict[str, object]] = json.loads(done.stdout)
    return report


def test_submissions_and_rounds_are_measured_at_their_sizes() -> None:
    report = run(
        "--only",
        "enqueue",
        "--only",
        "terminal",
        "--only",
        "wide",
        "--only",
        "scheduled",
        "--only",
        "updates",
        "--tasks",
        "400",
    )
    enqueued = report["enqueue"]["enqueue, tasks/s"]
    assert isinstance(enqueued, dict)
    assert enqueued["floor"]["to_floor"] == 1.0
    assert enqueued["product"]["median"] > 0
    assert set(report["terminal"]) == {"round", "sweep"}
    assert len(report["wide"]) == 5
    assert set(report["scheduled"]) == {"0 scheduled", "400 scheduled"}
    assert report["updates"] == {"tasks": 400, "updates": 1200, "hot": 0}


@pytest.mark.slow
def test_drains_and_pick_ups_are_measured_beside_their_floor() -> None:
    report = run("--only", "drain", "--only", "pick-up", "--tasks", "1500", "--samples", "3")
    assert len(report["drain"]) == 8
    for found in (*report["drain"].values(), *report["pick-up"].values()):
        assert isinstance(found, dict)
        assert set(found) == {"floor", "product", "product, whole worker"}
