"""Past the tasks that wait for a lock, when they fill all that a round looks at of a kind."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from tasks_app.core.facts import DispatchPlan, Snapshot
from tasks_app.store.reads.dispatch.behind_locks import START, Place, free_tasks, stretch_ends
from tasks_app.store.reads.dispatch.round_snapshot import with_holds

STRETCH: Final = 10_000
"""Tasks that one round looks through for free ones, of all kinds together: some 10 ms. The next
round goes on behind them, so that every free task is found however many wait for one lock."""

_reached: Final[dict[str, Place]] = {}


def look_past_locks(
    snapshot: Snapshot, plan: DispatchPlan, kinds: Collection[str], window: int
) -> Snapshot:
    """The snapshot with free tasks of these kinds from behind those that wait for a lock.

    ``plan`` is the round's first, in whose locks nothing more can go.
    """
    taken = {a.lock_key for a in plan.assignments if a.lock_key is not None} | snapshot.locked
    begins = {kind: _reached.get(kind, START) for kind in kinds}
    length = max(1, STRETCH // len(kinds))
    ends = stretch_ends(begins, length)
    for kind in kinds:
        if kind in ends:
            _reached[kind] = ends[kind]
        else:
            _reached.pop(kind, None)
    found = free_tasks(begins, ends, taken, window)
    seen = {task.id for task in snapshot.ready}
    more = [task for task in found if task.id not in seen]
    # Those that were come upon at the end of the queue are followed by its beginning at once.
    past_end = {
        kind: START for kind, begin in begins.items() if kind not in ends and begin != START
    }
    if past_end and not more:
        ends = stretch_ends(past_end, length)
        _reached.update(ends)
        found = free_tasks(past_end, ends, taken, window)
        more = [task for task in found if task.id not in seen]
    return with_holds(replace(snapshot, ready=[*snapshot.ready, *more])) if more else snapshot
