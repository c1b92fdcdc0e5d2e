"""What the end of a task means for its dependents, for every status and policy."""

import pytest

from tasks_app.core.jobs.dependencies import Fate, judge_edge
from tasks_app.core.states import UNFINISHED, EdgeState, OnDead, Status

EXPECTED = {
    (Status.DEAD, OnDead.WAIT): (EdgeState.BLOCKED, Fate.WAITS),
    (Status.DEAD, OnDead.FAIL): (EdgeState.BLOCKED, Fate.DIES),
    (Status.DEAD, OnDead.CONTINUE): (EdgeState.VOID, Fate.ADVANCES),
    **{
        (status, on_dead): (
            (EdgeState.VOID, Fate.ADVANCES)
            if on_dead is OnDead.CONTINUE
            else (EdgeState.BLOCKED, Fate.SKIPS if status is Status.SKIPPED else Fate.DIES)
        )
        for status in (Status.DISMISSED, Status.CANCELLED, Status.SKIPPED)
        for on_dead in OnDead
    },
    **{(Status.COMPLETED, on_dead): (EdgeState.MET, Fate.ADVANCES) for on_dead in OnDead},
    **{
        (status, on_dead): (EdgeState.WAITING, Fate.WAITS)
        for status in UNFINISHED
        for on_dead in OnDead
    },
}


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("on_dead", OnDead)
def test_every_status_and_policy_has_its_verdict(status: Status, on_dead: OnDead) -> None:
    verdict = judge_edge(status, on_dead)
    assert (verdict.state, verdict.fate) == EXPECTED[status, on_dead]


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("on_dead", OnDead)
def test_a_requeued_dependent_is_judged_alike_but_waits_for_a_dead_dependency(
    status: Status, on_dead: OnDead
) -> None:
    verdict = judge_edge(status, on_dead, revived=True)
    if (status, on_dead) == (Status.DEAD, OnDead.FAIL):
        assert verdict == judge_edge(Status.DEAD, OnDead.WAIT)
    else:
        assert verdict == judge_edge(status, on_dead)
