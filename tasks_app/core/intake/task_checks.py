"""Every fault of a batch of new tasks that shows without the record."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from graphlib import CycleError, TopologicalSorter
from uuid import UUID

from tasks_app.core.bounds import LOWEST_WEIGHT
from tasks_app.core.intake.new_tasks import (
    EARLIEST,
    HIGHEST_PRIORITY,
    HIGHEST_WEIGHT,
    LATEST,
    LONGEST_ESTIMATE,
    LONGEST_KEY,
    LONGEST_LOCK,
    LONGEST_NAME,
    MOST_ATTEMPTS,
    MOST_DEPENDENCIES,
    Dependency,
    KeyRef,
    NewTask,
    TaskFault,
    between,
    fault_of_text,
    is_seconds,
    shown,
    unknown_kind,
)
from tasks_app.core.states import OnDead


def check_batch(
    tasks: Sequence[NewTask], kinds: Collection[str], places: Mapping[tuple[str, str], int]
) -> list[TaskFault]:
    """Every fault of fields, keys and references within the batch; payloads are checked apart.

    ``places`` is what ``places_of_keys`` says of these tasks.
    """
    faults = [fault for index, task in enumerate(tasks) for fault in _faults_of(index, task, kinds)]
    if any(task.depends_on for task in tasks):
        faults.extend(_faults_of_references(tasks, places))
    return faults


def _faults_of(index: int, task: NewTask, kinds: Collection[str]) -> Iterator[TaskFault]:
    if task.kind not in kinds:
        yield TaskFault(index, "kind", shown(task.kind), unknown_kind(task.kind, kinds))
    if task.key is not None and (message := fault_of_text(task.key, LONGEST_KEY)):
        yield TaskFault(index, "key", shown(task.key), message)
    if not _whole(task.priority, -HIGHEST_PRIORITY, HIGHEST_PRIORITY):
        message = f"give a whole number from -{HIGHEST_PRIORITY} to {HIGHEST_PRIORITY}"
        yield TaskFault(index, "priority", shown(task.priority), message)
    if task.estimate_seconds is not None and not is_seconds(task.estimate_seconds):
        message = f"give seconds, more than 0 and at most {LONGEST_ESTIMATE:,.0f} (30 days)"
        yield TaskFault(index, "estimate_seconds", shown(task.estimate_seconds), message)
    if task.max_attempts is not None and not _whole(task.max_attempts, 1, MOST_ATTEMPTS):
        message = f"give a whole number from 1 to {MOST_ATTEMPTS}"
        yield TaskFault(index, "max_attempts", shown(task.max_attempts), message)
    if task.run_at is not None and (message := _fault_of_instant(task.run_at)):
        yield TaskFault(index, "run_at", shown(task.run_at), message)
    yield from _faults_of_holds(index, task)
    if task.depends_on:
        yield from _faults_of_dependencies(index, task.depends_on)


def _faults_of_holds(index: int, task: NewTask) -> Iterator[TaskFault]:
    if task.lock_key is not None and (message := fault_of_text(task.lock_key, LONGEST_LOCK)):
        yield TaskFault(index, "lock_key", shown(task.lock_key), message)
    if not between(task.weight, LOWEST_WEIGHT, HIGHEST_WEIGHT):
        message = f"give a number, more than 0 and at most {HIGHEST_WEIGHT:,.0f}"
        yield TaskFault(index, "weight", shown(task.weight), message)
    if task.deadline_at is None:
        return
    if message := _fault_of_instant(task.deadline_at):
        yield TaskFault(index, "deadline_at", shown(task.deadline_at), message)
    elif task.run_at is None or _fault_of_instant(task.run_at):
        return
    elif task.deadline_at <= task.run_at:
        message = f"not after its run_at, {task.run_at.isoformat()}; it could never run"
        yield TaskFault(index, "deadline_at", shown(task.deadline_at), message)


def _whole(value: object, lowest: int, highest: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest


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
            return (
                f"give the name of a kind and a key, texts of 1 to {LONGEST_NAME} and "
                f"{LONGEST_KEY} characters"
            )
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
