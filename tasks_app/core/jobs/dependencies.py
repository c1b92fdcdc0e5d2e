"""What the end of a task means for those that depend on it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tasks_app.core.states import EdgeState, OnDead, Status


class Fate(StrEnum):
    """What happens to the dependent when an edge reaches a state."""

    WAITS = "waits"
    ADVANCES = "advances"
    DIES = "dies"
    SKIPS = "skips"


@dataclass(frozen=True, slots=True)
class EdgeVerdict:
    """The state an edge goes to, and the dependent's fate."""

    state: EdgeState
    fate: Fate

    @property
    def ends(self) -> bool:
        """Whether the dependent can never run."""
        return self.fate in (Fate.DIES, Fate.SKIPS)


WAITS: Final = EdgeVerdict(EdgeState.WAITING, Fate.WAITS)
ADVANCES: Final = EdgeVerdict(EdgeState.MET, Fate.ADVANCES)
GOES_WITHOUT: Final = EdgeVerdict(EdgeState.VOID, Fate.ADVANCES)
NEEDS_HUMAN: Final = EdgeVerdict(EdgeState.BLOCKED, Fate.WAITS)
DIES: Final = EdgeVerdict(EdgeState.BLOCKED, Fate.DIES)
SKIPS: Final = EdgeVerdict(EdgeState.BLOCKED, Fate.SKIPS)

WHEN_DEAD: Final = {
    OnDead.WAIT: NEEDS_HUMAN,
    OnDead.FAIL: DIES,
    OnDead.CONTINUE: GOES_WITHOUT,
}
WHEN_CLOSED: Final = {
    OnDead.WAIT: DIES,
    OnDead.FAIL: DIES,
    OnDead.CONTINUE: GOES_WITHOUT,
}
WHEN_SKIPPED: Final = {
    OnDead.WAIT: SKIPS,
    OnDead.FAIL: SKIPS,
    OnDead.CONTINUE: GOES_WITHOUT,
}
OPEN_EDGES: Final = frozenset({EdgeState.WAITING, EdgeState.BLOCKED})
"""States of an edge that is not decided for good."""

CLOSED: Final = frozenset({Status.DISMISSED, Status.CANCELLED})


def judge_edge(dependency: Status, on_dead: OnDead, *, revived: bool = False) -> EdgeVerdict:
    """Decide an edge by its dependency's status (design, section 3).

    ``revived``: the dependent was just requeued. A person who requeues a task whose dependency is
    DEAD wants both, so ``fail`` then waits for that dependency, as ``wait`` does.

    >>> judge_edge(Status.DEAD, OnDead.FAIL).fate
    <Fate.DIES: 'dies'>
    >>> judge_edge(Status.DEAD, OnDead.FAIL, revived=True).fate
    <Fate.WAITS: 'waits'>
    """
    if dependency is Status.COMPLETED:
        return ADVANCES
    if dependency is Status.DEAD:
        return NEEDS_HUMAN if revived and on_dead is OnDead.FAIL else WHEN_DEAD[on_dead]
    if dependency is Status.SKIPPED:
        # A branch not taken is no failure: what hangs on it is not taken either.
        return WHEN_SKIPPED[on_dead]
    if dependency in CLOSED:
        return WHEN_CLOSED[on_dead]
    return WAITS


HOPELESS: Final = tuple(
    (status, on_dead)
    for status in Status
    for on_dead in OnDead
    if judge_edge(status, on_dead, revived=True).ends
)
"""A dependency's status and policy under which not even a requeue helps the dependent."""
