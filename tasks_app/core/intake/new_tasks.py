"""Tasks as they are submitted, and how what is wrong with one is told."""

import difflib
import json
import reprlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypedDict
from uuid import UUID

from tasks_app.core.bounds import SHORTEST_ESTIMATE
from tasks_app.core.sanitise import clean_text
from tasks_app.core.states import OnDead

LONGEST_KEY: Final = 200
"""Characters; the width of the column."""

LONGEST_NAME: Final = 100
"""Characters of an input's name; the width of the column."""

HIGHEST_PRIORITY: Final = 1000
"""Either way; a step is worth a settable head start in the queue, a minute by default."""

LONGEST_ESTIMATE: Final = 30 * 24 * 3600.0
"""Seconds."""

LONGEST_LOCK: Final = 200
"""Characters of a lock key; the width of the column."""

HIGHEST_WEIGHT: Final = 1e6
"""What one task may weigh under its kind's limit; it weighs 1 where nothing is said."""

MOST_ATTEMPTS: Final = 100
"""As many as a kind may allow."""

MOST_DEPENDENCIES: Final = 1000
"""Of one task; each brings a result of up to 256 KiB to its worker."""

EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)


# Enough of a container to recognise it by, and bounded whatever it holds.
_SHORT: Final = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxdict, _SHORT.maxlist, _SHORT.maxtuple = 2, 4, 4, 4


@dataclass(frozen=True, slots=True)
class KeyRef:
    """A task by its kind and idempotency key, in the same batch or on record."""

    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Dependency:
    """What a new task waits for: a task's id, its key, or its index in the same batch.

    ``name`` is the input under which the result reaches the worker; None is the kind waited for.
    """

    on: UUID | KeyRef | int
    name: str | None = None
    on_dead: OnDead | str = OnDead.WAIT


@dataclass(frozen=True, slots=True)
class NewTask:
    """One task to submit; None leaves a value to its kind, ``key`` None means no idempotency.

    ``run_at`` (aware) is the earliest start; ``estimate_seconds`` the run time at skill 1.
    ``lock_key`` is what it needs for itself alone, ``weight`` its share of its kind's limit;
    past ``deadline_at`` (aware) it is DEAD unless it has ended.
    """

    kind: str
    payload: Any
    key: str | None = None
    priority: int = 0
    estimate_seconds: float | None = None
    max_attempts: int | None = None
    run_at: datetime | None = None
    depends_on: Sequence[Dependency] = ()
    lock_key: str | None = None
    weight: float = 1.0
    deadline_at: datetime | None = None


class TaskFields(TypedDict, total=False):
    """What may be said of a task beside its kind and payload, as ``NewTask`` has it."""

    key: str | None
    priority: int
    estimate_seconds: float | None
    max_attempts: int | None
    run_at: datetime | None
    depends_on: Sequence[Dependency]
    lock_key: str | None
    weight: float
    deadline_at: datetime | None


@dataclass(frozen=True, slots=True)
class TaskFault:
    """What is wrong with one item of a batch: its index from 0, field, value cut short, remedy."""

    index: int
    field: str
    value: str
    message: str

    def __str__(self) -> str:
        """The one line that a person reads.

        >>> str(TaskFault(3, "priority", '"high"', "no whole number"))
        'item 3: priority: no whole number, got "high"'
        """
        return f"item {self.index}: {self.field}: {self.message}, got {self.value}"


@dataclass(frozen=True, slots=True)
class KeyConflict(TaskFault):
    """An item with the key of another task, and other content than that task was submitted with."""


def shown(value: object) -> str:
    """A value as a fault shows it: JSON where it is plain, at most 100 characters.

    >>> shown(True), shown("high"), shown({"rows": [1, 2, 3, 4, 5, 6, 7]})
    ('true', '"high"', "{'rows': [1, 2, 3, 4, ...]}")
    """
    if isinstance(value, str):
        cut = value if len(value) <= 80 else f"{value[:77]}..."
        return clean_text(json.dumps(cut, ensure_ascii=False))[:100]
    if isinstance(value, int) and value.bit_length() > 256:
        return "a huge integer"
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return clean_text(_SHORT.repr(value))[:100]


def places_of_keys(tasks: Sequence[NewTask]) -> dict[tuple[str, str], int]:
    """The index of the first item with each (kind, key)."""
    places: dict[tuple[str, str], int] = {}
    for index, task in enumerate(tasks):
        if task.key is not None:
            places.setdefault((task.kind, task.key), index)
    return places


def unknown_kind(kind: str, kinds: Collection[str]) -> str:
    """The sentence that names the near miss and the kinds there are.

    >>> unknown_kind("clasify", ["classify", "draft"])
    'no such kind; did you mean classify? There are: classify, draft'
    >>> unknown_kind("refund", ["classify", "draft"])
    'no such kind; there are: classify, draft'
    """
    if not kinds:
        return "no such kind; there is none yet: add it in the admin or start a worker that does it"
    names = sorted(kinds)
    near = difflib.get_close_matches(kind[:200], names, 1)
    listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    there = f"did you mean {near[0]}? There" if near else "there"
    return f"no such kind; {there} are: {listed}"


def fault_of_text(value: object, longest: int) -> str:
    """Why a value cannot be kept as a short text; "" when it can."""
    if not isinstance(value, str):
        return "give a text"
    if not value.strip():
        return "empty; give a text or leave it out"
    if len(value) > longest:
        return f"longer than {longest} characters ({len(value)})"
    if "\x00" in value:
        return "contains a NUL character; take it out"
    if any("\ud800" <= character <= "\udfff" for character in value):
        return "contains half a surrogate pair; send valid UTF-8"
    return ""


def is_seconds(value: object) -> bool:
    """Tell whether a value is a span that a task may be given: up to 30 days."""
    # A double so small that it is zero to the queue's arithmetic helps nobody.
    return between(value, SHORTEST_ESTIMATE, LONGEST_ESTIMATE)


def between(value: object, lowest: float, highest: float) -> bool:
    """Tell whether a value is a number within these bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # NaN is within none; an integer too large for a float can be compared all the same.
    return lowest <= value <= highest
