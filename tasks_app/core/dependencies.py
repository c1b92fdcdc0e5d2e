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


@dataclass(frozen=True, slots=True)
class EdgeVerdict:
    """The state an edge goes to, and the dependent's fate."""

    state: EdgeState
    fate: Fate


CLOSED: Final = frozenset({Status.DISMISSED, Status.CANCELLED, Status.SKIPPED})


def judge_edge(dependency: Status, on_dead: OnDead) -> EdgeVerdict:
    """Decide an edge by its dependency's status (design, section 3).

    >>> judge_edge(Status.DEAD, OnDead.WAIT).fate
    <Fate.WAITS: 'waits'>
    """
    if dependency is Status.COMPLETED:
        return EdgeVerdict(EdgeState.MET, Fate.ADVANCES)
    if dependency is Status.DEAD:
        if on_dead is OnDead.WAIT:
            return EdgeVerdict(EdgeState.BLOCKED, Fate.WAITS)
        if on_dead is OnDead.FAIL:
            return EdgeVerdict(EdgeState.BLOCKED, Fate.DIES)
        return EdgeVerdict(EdgeState.VOID, Fate.ADVANCES)
    if dependency in CLOSED:
        if on_dead is OnDead.CONTINUE:
            return EdgeVerdict(EdgeState.VOID, Fate.ADVANCES)
        return EdgeVerdict(EdgeState.BLOCKED, Fate.DIES)
    return EdgeVerdict(EdgeState.WAITING, Fate.WAITS)
