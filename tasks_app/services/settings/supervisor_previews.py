"""What a change of the supervisor's settings would do before it is made."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tasks_app.core.facts import StrategyName
from tasks_app.core.settings.hand_out_previews import preview_heartbeat, preview_stale_after
from tasks_app.core.settings.queue_previews import (
    preview_head_start,
    preview_timeout_grace,
    preview_unroutable,
    preview_window,
)
from tasks_app.core.settings.supervision_previews import (
    RoundsPast,
    preview_backlog,
    preview_quarantine,
    preview_tick,
)
from tasks_app.services.settings.strategy_previews import spread
from tasks_app.store.reads.dispatch.supervision import read_rounds
from tasks_app.store.reads.search.kinds import kinds_without_strategy
from tasks_app.store.reads.settings.kind_preview_facts import MOST, poisoned, silences, tasks_ahead
from tasks_app.store.reads.settings.queue_preview_facts import (
    overruns,
    queue_now,
    ready_by_kind,
    unroutable_now,
)

Values = Mapping[str, Any]
Effect = Callable[[Values, Values], Iterator[str]]


def preview_supervisor(before: Values, after: Values) -> list[str]:
    """Say what each change would do, in the order of the table below; nothing for the rest."""
    said: list[str] = []
    for names, effect in EFFECTS:
        if any(before[name] != after[name] for name in names):
            said.extend(effect(before, after))
    return said


def _strategy(before: Values, after: Values) -> Iterator[str]:
    yield from spread(kinds_without_strategy(), StrategyName(after["default_strategy"]), None)


def _stale_after(before: Values, after: Values) -> Iterator[str]:
    yield from preview_stale_after(silences(), before, after)


def _heartbeat(before: Values, after: Values) -> Iterator[str]:
    yield preview_heartbeat(len(silences().gaps), after)


def _backlog(before: Values, after: Values) -> Iterator[str]:
    yield preview_backlog(tasks_ahead(), before, after)


def _head_start(before: Values, after: Values) -> Iterator[str]:
    yield preview_head_start(queue_now(), before, after)


def _window(before: Values, after: Values) -> Iterator[str]:
    yield preview_window(ready_by_kind(), MOST, before, after)


def _tick(before: Values, after: Values) -> Iterator[str]:
    rounds = read_rounds()
    past = RoundsPast(rounds.rounds, rounds.longest_seconds, rounds.promoted, rounds.reclaimed)
    yield preview_tick(past, before, after)


def _timeout_grace(before: Values, after: Values) -> Iterator[str]:
    yield preview_timeout_grace(overruns(), before, after)


def _unroutable(before: Values, after: Values) -> Iterator[str]:
    yield preview_unroutable(unroutable_now(), before, after)


def _quarantine(before: Values, after: Values) -> Iterator[str]:
    yield preview_quarantine(poisoned(), before, after)


EFFECTS: Final[tuple[tuple[tuple[str, ...], Effect], ...]] = (
    (("default_strategy",), _strategy),
    (("stale_after_seconds", "heartbeat_seconds"), _stale_after),
    (("heartbeat_seconds",), _heartbeat),
    (("timeout_grace_seconds",), _timeout_grace),
    (("backlog",), _backlog),
    (("priority_head_start_seconds",), _head_start),
    (("window",), _window),
    (("tick_seconds",), _tick),
    (("unroutable_grace_seconds",), _unroutable),
    (("quarantine_after", "quarantine_window_seconds"), _quarantine),
)
"""Which settings have an effect that the record can tell, and the function that tells it."""
