"""What a submission says beside its payload, as one text: two of the same content have the same."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from tasks_app.core.intake.new_tasks import Dependency, KeyRef, NewTask

_OPTIONS: Final = attrgetter(
    "priority",
    "estimate_seconds",
    "max_attempts",
    "run_at",
    "lock_key",
    "weight",
    "deadline_at",
    "depends_on",
)
_DEFAULTS: Final = _OPTIONS(NewTask("", None))


def options_text(task: NewTask, batch: Sequence[NewTask]) -> str | None:
    """The options that differ from their defaults, in one spelling; None for none.

    A dependency on an item of the same batch is told by that item's kind and key, because its
    place may be another one when the task is sent again.

    >>> options_text(NewTask("mail", {}, priority=3, weight=2), [])
    '{"priority":3,"weight":2.0}'
    """
    if _OPTIONS(task) == _DEFAULTS:
        return None
    given: dict[str, Any] = {
        "priority": task.priority or None,
        "estimate_seconds": _number(task.estimate_seconds),
        "max_attempts": task.max_attempts,
        "run_at": _instant(task.run_at),
        "lock_key": task.lock_key,
        "weight": None if task.weight == 1 else _number(task.weight),
        "deadline_at": _instant(task.deadline_at),
        "depends_on": [_dependency(need, batch) for need in task.depends_on] or None,
    }
    said = {name: value for name, value in given.items() if value is not None}
    return json.dumps(said, sort_keys=True, separators=(",", ":")) if said else None


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _instant(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat()


def _dependency(need: Dependency, batch: Sequence[NewTask]) -> list[Any]:
    if isinstance(need.on, KeyRef):
        on = [need.on.kind, need.on.key]
    elif isinstance(need.on, UUID):
        on = [str(need.on)]
    else:
        item = batch[need.on]
        on = [item.kind, item.key or ""]
    return [on, need.name, str(need.on_dead)]
