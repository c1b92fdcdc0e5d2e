"""What a batch is held against before the record is asked about it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks_app.core.intake.new_tasks import KeyRef, NewTask, TaskFault, places_of_keys, shown
from tasks_app.core.intake.payloads import dump_json
from tasks_app.core.intake.task_checks import check_batch
from tasks_app.services.intake.payload_schemas import PayloadSchema
from tasks_app.store.reads.settings.configuration import kind_doors


@dataclass(frozen=True, slots=True)
class Admission:
    """A batch as far as it can be judged without the record.

    ``payloads`` are the JSON texts to store; ``pairs`` the (kind, key) to look up: of the tasks
    themselves and of those they refer to; ``places`` where in the batch a (kind, key) stands;
    ``broken`` the indexes of items with a fault. ``repeats`` maps an item to the one before it that
    has its key; what is broken is neither.
    """

    payloads: Sequence[str]
    faults: Sequence[TaskFault]
    pairs: Sequence[tuple[str, str]]
    places: Mapping[tuple[str, str], int]
    broken: frozenset[int]
    repeats: Mapping[int, int]


def admit(tasks: Sequence[NewTask]) -> Admission:
    """Check fields, references and payloads, against the kinds as they are now."""
    doors = kind_doors()
    places = places_of_keys(tasks)
    faults = check_batch(tasks, doors, places)
    schemas = {name: PayloadSchema(door.payload_schema) for name, door in doors.items()}
    payloads = []
    for index, task in enumerate(tasks):
        dumped = dump_json(task.payload)
        payloads.append(dumped.text)
        faults.extend(
            TaskFault(index, f"payload{fault.place[1:]}", shown(task.payload), fault.message)
            for fault in dumped.faults
        )
        if not dumped.faults and task.kind in schemas:
            faults.extend(_schema_faults(index, task.payload, schemas[task.kind]))
    broken = frozenset(fault.index for fault in faults)
    pairs = list(_pairs_of(tasks, broken))
    return Admission(payloads, faults, pairs, places, broken, _repeats_of(tasks, broken, places))


def _repeats_of(
    tasks: Sequence[NewTask], broken: frozenset[int], places: Mapping[tuple[str, str], int]
) -> dict[int, int]:
    if len(places) == len(tasks):
        return {}
    repeats: dict[int, int] = {}
    firsts: dict[tuple[str, str], int] = {}
    for index, task in enumerate(tasks):
        if task.key is None or index in broken:
            continue
        first = firsts.setdefault((task.kind, task.key), index)
        if first != index:
            repeats[index] = first
    return repeats


def _schema_faults(index: int, payload: Any, schema: PayloadSchema) -> Iterator[TaskFault]:
    fault = schema.first_fault(payload)
    if fault is not None:
        yield TaskFault(index, *fault)


def _pairs_of(tasks: Sequence[NewTask], broken: frozenset[int]) -> Iterator[tuple[str, str]]:
    for index, task in enumerate(tasks):
        if index in broken:
            continue
        if task.key is not None:
            yield task.kind, task.key
        for need in task.depends_on:
            if isinstance(need.on, KeyRef):
                yield need.on.kind, need.on.key
