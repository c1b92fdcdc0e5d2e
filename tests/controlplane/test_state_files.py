"""Files that are only state: what a power cut left of them keeps nothing from starting."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from controlplane.environment import ROOT
from controlplane.singleton import AlreadyRunning, only_one
from tests.waiting import wait_for


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"(1, 2"])
def test_beat_starts_whatever_an_earlier_one_left_of_its_schedule(
    tmp_path: Path, content: bytes
) -> None:
    for ending in ("", ".dat", ".dir", ".bak", ".db"):
        (tmp_path / f"beat-schedule{ending}").write_bytes(content)
    environment = {**os.environ, "CHARGEHAND_VAR": str(tmp_path), "BEAT_SECONDS": "1"}
    log = tmp_path / "beat.log"
    with log.open("wb") as written:
        beat = subprocess.Popen(
            [sys.executable, "-m", "celery", "--app", "controlplane.celery", "beat"],
            cwd=ROOT,
            env=environment,
            stdout=written,
            stderr=written,
        )
    try:
        messages = tmp_path / "broker" / "messages"
        wait_for(lambda: [*messages.glob("*.msg")], "a wake-up to be sent", 60)
        assert beat.poll() is None
    finally:
        beat.kill()
        beat.wait(10)
    assert "thrown away" in log.read_text()
    assert not [*tmp_path.glob("beat-schedule*")]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"\0" * 100])
def test_the_note_of_a_runner_may_hold_anything(tmp_path: Path, content: bytes) -> None:
    lock = tmp_path / "run.lock"
    lock.write_bytes(content)
    with only_one(lock) as note:
        note("http://127.0.0.1:8000")
        with pytest.raises(AlreadyRunning, match="8000"), only_one(lock):
            pass
        lock.write_bytes(content)
        with pytest.raises(AlreadyRunning), only_one(lock):
            pass
