"""Tags of every page: each status has its own shape, figures are short, instants are exact."""

import doctest
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.states import Status, WorkerState
from tasks_app.templatetags import shell


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(shell).failed == 0


def test_every_status_has_a_shape_of_its_own() -> None:
    for states in (Status, WorkerState):
        shapes = [shell.SHAPES[state] for state in states]
        assert len(set(shapes)) == len(shapes)


def test_a_status_is_shape_word_and_colour() -> None:
    assert shell.status("DEAD") == ('<span class="st dead"><i aria-hidden="true">✕</i>Dead</span>')


def test_an_instant_is_told_in_utc_whatever_its_zone() -> None:
    at = datetime(2026, 3, 1, 1, 30, 5, tzinfo=timezone(timedelta(hours=2)))
    shown = shell.when(at)
    assert 'datetime="2026-02-28T23:30:05.000+00:00"' in shown
    assert 'title="2026-02-28 23:30:05 UTC"' in shown
    assert "never" in shell.ago(None)


@given(st.floats(min_value=0, max_value=1e9))
def test_a_duration_is_short_and_has_a_unit(seconds: float) -> None:
    written = shell.duration(seconds)
    figure, unit = written.split(" ")
    assert unit in {"µs", "ms", "s", "min", "h", "d"}
    assert len(figure) <= 5
    assert float(figure) >= 0


@pytest.mark.parametrize("at", [datetime(2026, 11, 29, tzinfo=UTC)])
def test_ages_and_local_times_are_marked_for_the_script(at: datetime) -> None:
    assert 'data-time="ago"' in shell.ago(at)
    assert 'data-time="local"' in shell.when(at)
