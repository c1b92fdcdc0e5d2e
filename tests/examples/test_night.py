"""Whole nights: real processes on a stack of their own, killed while they work."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from controlplane.environment import ROOT
from tests.waiting import wait_for

pytest.importorskip("sklearn", reason="scikit-learn is not installed; `make test` installs it")

BANKING = ROOT.parent / "shared" / "data" / "banking77"
KEYS = [
    "tickets",
    "completed",
    "dead",
    "waiting_on_dead",
    "lost",
    "in_flight_at_restart",
    "executions",
    "duplicate_results",
    "duplicate_effects",
    "duplicate_effects_without_key",
    "attempts",
    "reclaims",
    "accuracy",
    "wall_seconds",
    "tasks_per_second",
    "d_microseconds",
]


def start(*options: str) -> "subprocess.Popen[str]":
    """Start a night; it needs nothing of this test run's own database."""
    command = [sys.executable, "-m", "examples.ticket_triage.night", *options]
    outside = {"CHARGEHAND_VAR", "DATABASE_URL"}
    environment = {name: value for name, value in os.environ.items() if name not in outside}
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def night(*options: str, seconds: float) -> dict[str, Any]:
    """Do a night and return its line of JSON; its own judgement must be good."""
    process = start(*options, "--json")
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    (line,) = out.splitlines()
    report: dict[str, Any] = json.loads(line)
    assert list(report) == KEYS
    return report


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder for a night's files, short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="chargehand-night-test-") as folder:
        yield Path(folder)


def test_a_small_night_loses_and_repeats_nothing_though_worker_and_supervisor_are_killed() -> None:
    report = night(
        *("--limit", "120", "--malformed", "5", "--workers", "3", "--slots", "4"),
        *("--latency", "0.1-0.3", "--chaos"),
        seconds=100,
    )
    # Five of the first 120 tickets of the file have no text either.
    assert (report["tickets"], report["completed"]) == (115, 230)
    assert (report["dead"], report["waiting_on_dead"]) == ({"permanent": 10}, 10)
    assert report["lost"] == 0
    assert report["in_flight_at_restart"] >= 37, "three tenths of 125"
    assert (report["duplicate_results"], report["duplicate_effects"]) == (0, 0)
    assert report["duplicate_effects_without_key"] > 0
    assert report["reclaims"] > 0
    assert report["attempts"] > 230 + 10, "errors for now and reclaimed starts come on top"
    # A worker that is killed between its claim and its handler leaves an attempt without a start.
    assert 230 + 10 < report["executions"] <= report["attempts"]
    assert report["accuracy"] >= 0.8
    assert report["wall_seconds"] > 0
    assert report["tasks_per_second"] == pytest.approx(230 / report["wall_seconds"], abs=0.1)
    assert 0 < report["d_microseconds"] < 1e6


@pytest.mark.slow
def test_a_plain_night_on_any_csv_kills_nothing_and_is_judged_without_labels(
    tmp_path: Path,
) -> None:
    tickets = tmp_path / "any.csv"
    tickets.write_text("text\nWhere is my refund?\nI lost my bag.\n")
    report = night(
        *("--tickets", str(tickets), "--malformed", "1", "--workers", "1"),
        *("--latency", "0", "--transient", "0"),
        seconds=60,
    )
    assert (report["tickets"], report["completed"], report["dead"]) == (2, 4, {"permanent": 1})
    assert (report["executions"], report["attempts"], report["reclaims"]) == (5, 5, 0)
    assert report["in_flight_at_restart"] is None
    assert report["accuracy"] is None


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_a_night_that_is_interrupted_or_killed_leaves_no_process(
    short_folder: Path, number: signal.Signals
) -> None:
    folder = short_folder / "night"
    process = start("--workers", "2", "--latency", "1-2", "--folder", str(folder))
    try:
        log = folder / "executions.jsonl"
        wait_for(log.exists, "the first handler to start", 60)
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) > 4, "database, supervisor, beat and two workers"
        process.send_signal(number)
        process.communicate(timeout=30)
        assert process.returncode == (130 if number is signal.SIGINT else -number)
        wait_for(lambda: not any(map(is_alive, children)), "all children to end", 15)
    finally:
        process.kill()
        process.communicate()


def is_alive(process: psutil.Process) -> bool:
    """Tell whether a process runs; a zombie that nobody has reaped yet does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--tickets", "nowhere.csv"], "nowhere.csv cannot be read"),
        (["--history", "nowhere.csv"], "nowhere.csv cannot be read"),
        (["--chaos", "--workers", "1"], "a second one that survives"),
        (["--workers", "many"], "give a whole number"),
        (["--folder", "examples"], "is not empty"),
    ],
)
def test_a_night_that_cannot_be_done_is_refused_in_a_sentence(
    options: list[str], sentence: str
) -> None:
    process = start(*options)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert sentence in err
    assert "Traceback" not in err


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not BANKING.is_dir(), reason="../shared/data/banking77 is not there")
def test_a_night_of_real_questions_keeps_every_promise() -> None:
    report = night(
        *("--tickets", str(BANKING / "test.csv"), "--history", str(BANKING / "train.csv")),
        *("--workers", "8", "--chaos"),
        seconds=500,
    )
    assert (report["tickets"], report["completed"]) == (3080, 6160)
    assert (report["dead"], report["waiting_on_dead"]) == ({"permanent": 20}, 20)
    assert (report["lost"], report["duplicate_results"], report["duplicate_effects"]) == (0, 0, 0)
    assert report["in_flight_at_restart"] >= 900
    assert report["duplicate_effects_without_key"] > 0
    assert report["accuracy"] >= 0.8
