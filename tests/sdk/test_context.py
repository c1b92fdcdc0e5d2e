"""What a handler is told, and what it may say."""

import logging
import math
import time
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.sanitise import clean_text
from tasks_app.sdk.context import LONGEST_NOTE, Cancelled, Context
from tasks_app.sdk.task_log import LONGEST_LINE, MOST_LINES, Lines


def test_context_of_a_unit_test_needs_only_a_task_id() -> None:
    task_id = uuid4()
    ctx = Context(task_id)
    assert (ctx.key, ctx.attempt, dict(ctx.inputs), ctx.cancelled) == (str(task_id), 1, {}, False)
    assert ctx.remaining == math.inf
    assert ctx.deadline_at is None


def test_deadline_is_told_by_both_clocks() -> None:
    ctx = Context(uuid4())
    ctx.deadline = time.monotonic() + 60
    assert 55 < ctx.remaining <= 60
    assert ctx.deadline_at is not None
    assert 55 < (ctx.deadline_at - datetime.now(UTC)).total_seconds() <= 60
    ctx.deadline = time.monotonic() - 1
    assert ctx.remaining == 0


def test_cancelled_context_raises_past_a_broad_except() -> None:
    ctx = Context(uuid4())
    ctx.raise_if_cancelled()
    ctx.cancel()
    assert ctx.cancelled
    with pytest.raises(Cancelled):
        ctx.raise_if_cancelled()
    with pytest.raises(Cancelled):
        ctx.sleep(60)
    assert not issubclass(Cancelled, Exception)


@given(st.floats(allow_nan=False), st.text())
def test_progress_is_always_a_share_and_a_storable_note(fraction: float, note: str) -> None:
    ctx = Context(uuid4())
    ctx.progress(fraction, note)
    assert ctx.latest_progress is not None
    share, said = ctx.latest_progress
    assert 0 <= share <= 1
    assert said == clean_text(said)
    assert len(said) <= LONGEST_NOTE


def test_progress_of_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Context(uuid4()).progress(math.nan)


def test_log_lines_carry_the_task_and_the_callers_fields(caplog: pytest.LogCaptureFixture) -> None:
    ctx = Context(uuid4(), kind="echo", attempt=2)
    with caplog.at_level(logging.INFO):
        ctx.log.info("half way", extra={"rows": 5})
    fields = vars(caplog.records[0])
    assert fields["task_id"] == str(ctx.task_id)
    assert (fields["kind"], fields["attempt"], fields["rows"]) == ("echo", 2, 5)


def test_what_is_logged_is_kept_in_short_whatever_the_loggers_level() -> None:
    ctx = Context(uuid4())
    ctx.log.debug("too fine")
    ctx.log.info("read %d of %d", 1, 2)
    ctx.log.warning("half done")
    ctx.log.error("x" * 5000)
    lines = ctx.lines.all()
    assert [line.level for line in lines] == ["INFO", "WARNING", "ERROR"]
    assert lines[0].text == "read 1 of 2"
    assert len(lines[2].text) == LONGEST_LINE
    for n in range(200):
        ctx.log.info("line %d", n)
    assert len(ctx.lines.all()) == MOST_LINES
    assert ctx.lines.all()[-1].text == "line 199"


@given(st.text(), st.lists(st.integers() | st.text()))
def test_logging_never_raises_and_keeps_what_can_be_stored(msg: str, args: list[object]) -> None:
    lines = Lines()
    lines.add(logging.INFO, msg, tuple(args))
    assert lines.all()[0].text == clean_text(lines.all()[0].text)
