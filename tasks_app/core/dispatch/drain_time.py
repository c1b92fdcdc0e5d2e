"""How long some work will take the workers that there are: a guess that says what it leaves out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tasks_app.core.facts import WorkerFacts


@dataclass(frozen=True, slots=True)
class DrainTime:
    """Seconds that the work takes at least, by workers of which so many can do it.

    ``seconds`` is None where no worker can do the kinds in ``undoable``, which are left out.
    """

    seconds: float | None
    workers: int
    undoable: Sequence[str] = ()


def drain_time(
    work: Mapping[str, float], workers: Sequence[WorkerFacts], locks: Iterable[float] = ()
) -> DrainTime:
    """The longest of: each kind by its own workers, all by all, each lock one after the other.

    ``work`` is the sum of the estimates of each kind, ``locks`` that of each lock's, in seconds.
    What else the workers do meanwhile is not known, so it takes longer.

    >>> from uuid import UUID
    >>> two = [WorkerFacts(UUID(int=n), f"w{n}", slots=5, skills={"job": 2.0}) for n in (1, 2)]
    >>> drain_time({"job": 600.0}, two).seconds, drain_time({"job": 600.0}, two, [120.0]).seconds
    (30.0, 120.0)
    """
    live = [worker for worker in workers if not worker.draining]
    speeds = {
        kind: sum(worker.slots * worker.skills.get(kind, 0.0) for worker in live) for kind in work
    }
    able = [worker for worker in live if any(kind in worker.skills for kind in work)]
    undoable = sorted(kind for kind, speed in speeds.items() if speed <= 0)
    bounds = [work[kind] / speed for kind, speed in speeds.items() if speed > 0]
    if not bounds:
        return DrainTime(None, 0, undoable)
    # A slot works on one kind at a time: at best each worker does what it is best at.
    together = sum(
        worker.slots * max(worker.skills.get(kind, 0.0) for kind in work) for worker in able
    )
    doable = sum(seconds for kind, seconds in work.items() if kind not in undoable)
    return DrainTime(
        max([*bounds, doable / together, *locks]), workers=len(able), undoable=undoable
    )
