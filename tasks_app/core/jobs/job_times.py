"""How long a job still takes: its critical path, from what its steps took so far or should take."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepTime:
    """One step: ``left`` tasks of ``seconds`` each are still to end, ``lanes`` at a time.

    ``elapsed`` is how long those that run have run at the most; ``unknown``: how many tasks it
    becomes will be known only when it begins.
    """

    name: str
    needs: Sequence[str]
    seconds: float
    left: int
    lanes: int = 1
    elapsed: float = 0.0
    unknown: bool = False

    @property
    def remaining(self) -> float:
        """Seconds until it has ended, once nothing that it needs holds it up.

        >>> StepTime("a", (), seconds=10, left=5, lanes=2, elapsed=4).remaining
        26.0
        """
        if self.left == 0:
            return 0.0
        waves = math.ceil(self.left / max(self.lanes, 1))
        # One that runs longer than it should is about to end, as far as anybody knows.
        return float((waves - 1) * self.seconds + max(self.seconds - self.elapsed, 0.0))


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """Seconds until the last step has ended, and the steps that decide it, the first first.

    ``at_least``: a step on the way will show only later how many tasks it becomes.
    """

    seconds: float
    path: Sequence[str]
    at_least: bool = False


def time_left(steps: Sequence[StepTime]) -> TimeLeft:
    """The critical path of what is left; steps in an order in which they may run.

    >>> a, b = StepTime("a", (), 4, 1), StepTime("b", ("a",), 3, 1)
    >>> time_left([a, b, StepTime("c", (), 5, 1)])
    TimeLeft(seconds=7.0, path=('a', 'b'), at_least=False)
    """
    ends: dict[str, float] = {}
    paths: dict[str, tuple[str, ...]] = {}
    for step in steps:
        last = max(step.needs, key=lambda need: ends[need], default=None)
        ends[step.name] = step.remaining + (ends[last] if last is not None else 0.0)
        before = paths[last] if last is not None else ()
        paths[step.name] = (*before, step.name) if step.left else before
    latest = max(ends, key=lambda name: ends[name], default=None)
    if latest is None:
        return TimeLeft(0.0, ())
    return TimeLeft(ends[latest], paths[latest], any(step.unknown for step in steps))
