"""Jobs of one kind and priority take turns, so that a large one does not hold up a small one.

Tasks that belong to no job are one job more. Within a job the order stays as it was.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Final
from uuid import UUID

from tasks_app.core.facts import TaskFacts, Turn

MOST_JOBS: Final = 100
"""Jobs of a kind that one round looks at beside the beginning of the queue; the next round goes on
after them."""


def share_of(looked_at: int, jobs: int) -> int:
    """How many tasks of each job a round needs to see so that every one can have its turns.

    >>> share_of(1000, 3), share_of(10, 100)
    (334, 1)
    """
    return max(1, -(-looked_at // max(1, jobs)))


def kinds_that_share(ready: Sequence[TaskFacts]) -> frozenset[str]:
    """The kinds of which more than one job has ready tasks."""
    if all(task.job is None for task in ready):
        return frozenset()
    seen: set[str] = set()
    shared: set[str] = set()
    for kind, _ in {(task.kind, task.job) for task in ready}:
        (shared if kind in seen else seen).add(kind)
    return frozenset(shared)


def take_turns(tasks: Iterable[TaskFacts], turns: Mapping[Turn, float]) -> Sequence[TaskFacts]:
    """Tasks of one kind and priority, in the order of their job, as the jobs take turns.

    ``turns`` says when each job was last handed something (on the scale of ``queue_at``). Whoever
    has waited longest comes first, since its turn or since its first task came into the queue:
    a stream of new jobs then never keeps out an old one.
    """
    lines: dict[UUID | None, list[TaskFacts]] = {}
    for task in tasks:
        lines.setdefault(task.job, []).append(task)
    if len(lines) == 1:
        return next(iter(lines.values()))
    in_turn = sorted(lines.values(), key=lambda line: _waits_since(line, turns))
    return [task for each in zip_longest(*in_turn) for task in each if task is not None]


def _waits_since(line: Sequence[TaskFacts], turns: Mapping[Turn, float]) -> tuple[float, ...]:
    first = min(line, key=lambda task: (task.queue_at, task.id.int))
    served = turns.get(first.turn)
    since = first.queue_at if served is None else max(served, first.queue_at)
    return since, first.queue_at, first.id.int


def turns_taken(
    queue: Iterable[TaskFacts], left: Collection[UUID], shared: Collection[str]
) -> Sequence[Turn]:
    """Who was handed something of the shared kinds: in the order of each one's last task."""
    if not shared:
        return ()
    served = (task for task in queue if task.kind in shared and task.id not in left)
    last = {task.turn: place for place, task in enumerate(served)}
    return sorted(last, key=last.__getitem__)


def lacking(
    ready: Iterable[TaskFacts], jobs: Collection[tuple[str, UUID]], share: int
) -> list[tuple[str, UUID]]:
    """Those of the (kind, job) of which fewer than ``share`` tasks are among the ready ones."""
    seen: dict[tuple[str, UUID | None], int] = {}
    for task in ready:
        line = task.kind, task.job
        seen[line] = seen.get(line, 0) + 1
    return [line for line in jobs if seen.get(line, 0) < share]
