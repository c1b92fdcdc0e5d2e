"""Desks of the ticket example, each in a folder of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from examples.ticket_triage.settings import OWN_HISTORY, TriageSettings


@pytest.fixture
def triage(tmp_path: Path) -> TriageSettings:
    """Settings of a desk that never waits and never fails for now."""
    return TriageSettings(OWN_HISTORY, tmp_path / "desk", (0.0, 0.0), 0.0)


@pytest.fixture
def csv_of(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of tickets from its lines."""

    def write(*lines: str) -> Path:
        path = tmp_path / "given.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write
