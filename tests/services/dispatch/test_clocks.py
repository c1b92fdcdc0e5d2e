"""Whose clock counts: the database's, and nobody else's."""

import time

import pytest

from tasks_app.core.states import Status
from tests.floor import Floor

HOUR = 3600.0


@pytest.mark.parametrize("ahead", [HOUR, -HOUR], ids=["an hour ahead", "an hour behind"])
def test_a_supervisor_whose_clock_is_wrong_judges_as_any_other(
    floor: Floor, monkeypatch: pytest.MonkeyPatch, ahead: float
) -> None:
    floor.worker("alive")
    floor.worker("silent")
    floor.submit(2)
    floor.round()
    (kept,) = floor.claim("alive")
    (lost,) = floor.claim("silent")
    floor.silence("silent", 100)
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + ahead)
    report = floor.round()
    assert (report.reclaimed, report.lost_workers) == (1, ["silent"])
    assert floor.status(kept.task_id) is Status.RUNNING
    assert floor.attempts(lost.task_id) == [("worker_lost", "silent")]
