"""Tasks as they are submitted, and every fault of a batch that shows without the record."""

import difflib
import json
import math
import reprlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final
from uuid import UUID

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
    """

    kind: str
    payload: Any
    key: str | None = None
    priority: int = 0
    estimate_seconds: float | None = None
    max_attempts: int | None = None
    run_at: datetime | None = None
    depends_on: Sequence[Dependency] = ()


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


def check_batch(
    tasks: Sequence[NewTask], kinds: Collection[str], places: Mapping[tuple[str, str], int]
) -> list[TaskFault]:
    """Every fault of fields, keys and references within the batch; payloads are checked apart.

    ``places`` is what ``places_of_keys`` says of these tasks.
    """
    faults = [fault for index, task in enumerate(tasks) for fault in _faults_of(index, task, kinds)]
    for index, task in enumerate(tasks):
        first = places.get((task.kind, task.key), index) if task.key is not None else index
        if first != index:
            message = f"the same key as item {first}; give each task of a kind a key of its own"
            faults.append(TaskFault(index, "key", shown(task.key), message))
    if any(task.depends_on for task in tasks):
        faults.extend(_faults_of_references(tasks, places))
    return faults


def unknown_kind(kind: str, kinds: Collection[str]) -> str:
    """The sentence that names the near miss and the kinds there are.

    >>> unknown_kind("clasify", ["classify", "draft"])
    'no such kind; did you mean classify? There are: classify, draft'
    """
    if not kinds:
        return "no such kind; there is none yet: add it in the admin or start a worker that does it"
    names = sorted(kinds)
    near = difflib.get_close_matches(kind[:200], names, 1)
    listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"no such kind;{f' did you mean {near[0]}?' if near else ''} There are: {listed}"


def fault_of_text(value: object, longest: int) -> str:
    """Why a value cannot be kept as a short text; "" when it can."""
    if not isinstance(value, str):
        return "no text"
    if not value.strip():
        return "empty; give a text or leave it out"
    if len(value) > longest:
        return f"longer than {longest} characters ({len(value)})"
    if "\x00" in value:
        return "contains a NUL character; take it out"
    if any("\ud800" <= character <= "\udfff" for character in value):
        return "contains half a surrogate pair; send valid UTF-8"
    return ""


def _faults_of(index: int, task: NewTask, kinds: Collection[str]) -> Iterator[TaskFault]:
    if task.kind not in kinds:
        yield TaskFault(index, "kind", shown(task.kind), unknown_kind(task.kind, kinds))
    if task.key is not None and (message := fault_of_text(task.key, LONGEST_KEY)):
        yield TaskFault(index, "key", shown(task.key), message)
    if not _whole(task.priority, -HIGHEST_PRIORITY, HIGHEST_PRIORITY):
        message = f"give a whole number from -{HIGHEST_PRIORITY} to {HIGHEST_PRIORITY}"
        yield TaskFault(index, "priority", shown(task.priority), message)
    if task.estimate_seconds is not None and not _seconds(task.estimate_seconds):
        message = f"give seconds, more than 0 and at most {LONGEST_ESTIMATE:,.0f} (30 days)"
        yield TaskFault(index, "estimate_seconds", shown(task.estimate_seconds), message)
    if task.max_attempts is not None and not _whole(task.max_attempts, 1, MOST_ATTEMPTS):
        message = f"give a whole number from 1 to {MOST_ATTEMPTS}"
        yield TaskFault(index, "max_attempts", shown(task.max_attempts), message)
    if task.run_at is not None and (message := _fault_of_instant(task.run_at)):
        yield TaskFault(index, "run_at", shown(task.run_at), message)
    if task.depends_on:
        yield from _faults_of_dependencies(index, task.depends_on)


def _whole(value: object, lowest: int, highest: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest


def _seconds(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # A double so small that it is zero to the queue's arithmetic helps nobody.
    return not math.isnan(value) and 1e-6 <= value <= LONGEST_ESTIMATE


def _fault_of_instant(value: object) -> str:
    if not isinstance(value, datetime) or value.tzinfo is None or value.utcoffset() is None:
        return "give an instant with its time zone, such as 2030-01-31T08:00:00+01:00"
    # Compared by year first: an instant at the edge of what datetime holds cannot be converted.
    if not EARLIEST.year <= value.year <= LATEST.year or not EARLIEST <= value <= LATEST:
        return f"give an instant between the years {EARLIEST.year} and {LATEST.year}"
    return ""


def _faults_of_dependencies(index: int, needs: Sequence[Dependency]) -> Iterator[TaskFault]:
    if len(needs) > MOST_DEPENDENCIES:
        message = f"at most {MOST_DEPENDENCIES:,} dependencies; gather them in a task between"
        yield TaskFault(index, "depends_on", f"{len(needs):,}", message)
        return
    for place, need in enumerate(needs):
        field = f"depends_on[{place}]"
        if need.name is not None and (message := fault_of_text(need.name, LONGEST_NAME)):
            yield TaskFault(index, f"{field}.name", shown(need.name), message)
        if need.on_dead not in tuple(OnDead):
            message = f"give one of {', '.join(OnDead)}"
            yield TaskFault(index, f"{field}.on_dead", shown(need.on_dead), message)


def place_in_batch(
    need: Dependency, count: int, places: Mapping[tuple[str, str], int]
) -> int | str | None:
    """Where in the batch a reference points: an index, None for the record, or what is wrong."""
    if isinstance(need.on, KeyRef):
        if fault_of_text(need.on.kind, LONGEST_NAME) or fault_of_text(need.on.key, LONGEST_KEY):
            return "no valid kind and key"
        return places.get((need.on.kind, need.on.key))
    if isinstance(need.on, UUID):
        return None
    if _whole(need.on, 0, count - 1):
        return need.on
    return f"no item of this batch; the last one is {count - 1}, counted from 0"


def _faults_of_references(
    tasks: Sequence[NewTask], places: Mapping[tuple[str, str], int]
) -> Iterator[TaskFault]:
    graph: dict[int, set[int]] = {}
    for index, task in enumerate(tasks):
        for place, need in enumerate(task.depends_on):
            on = place_in_batch(need, len(tasks), places)
            if on == index:
                on = "a task cannot wait for itself; take this dependency out"
            if isinstance(on, str):
                yield TaskFault(index, f"depends_on[{place}].on", shown(need.on), on)
            elif on is not None:
                graph.setdefault(index, set()).add(on)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1]
        path = " -> ".join(str(index) for index in circle[:20])
        message = "these items wait for one another in a circle; take one dependency out"
        yield TaskFault(min(circle), "depends_on", path, message)


def faults_of_inputs(index: int, on: Sequence[UUID], names: Sequence[str]) -> Iterator[TaskFault]:
    """What is wrong with a task's dependencies once it is known where each of them points."""
    for task_id, count in Counter(on).items():
        if count > 1:
            message = f"waits {count} times for the same task; name it once"
            yield TaskFault(index, "depends_on", str(task_id), message)
    for name, count in Counter(names).items():
        if count > 1:
            message = f"{count} inputs have this name; give each a name of its own"
            yield TaskFault(index, "depends_on", shown(name), message)
