"""A round with half-open breakers: one probe each, whoever shares the limit."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.dispatch.breakers import BreakerFacts, BreakerPolicy, next_state
from tasks_app.core.dispatch.dispatch import plan_dispatch
from tasks_app.core.facts import Breaker, Guarded, Left, LimitFacts, Scope, Snapshot
from tests.core.facts_made import snapshots

states = st.sampled_from(list(Breaker))


@given(snapshots(), states, st.lists(states, min_size=3, max_size=3))
def test_each_half_open_breaker_lets_one_task_through_and_each_open_one_none(
    snapshot: Snapshot, of_limit: Breaker, of_kinds: list[Breaker]
) -> None:
    kinds = {
        name: replace(policy, limit="api", breaker=breaker)
        for (name, policy), breaker in zip(snapshot.kinds.items(), of_kinds, strict=True)
    }
    limits = {"api": LimitFacts("api", breaker=of_limit)}
    plan = plan_dispatch(replace(snapshot, kinds=kinds, limits=limits))
    given_out = [item.kind for item in plan.assignments]
    if of_limit is not Breaker.CLOSED:
        assert len(given_out) <= (of_limit is Breaker.HALF_OPEN)
    for name, policy in kinds.items():
        if policy.breaker is not Breaker.CLOSED:
            assert given_out.count(name) <= (policy.breaker is Breaker.HALF_OPEN)
    for item in plan.assignments:
        expected = {Guarded(Scope.LIMIT, "api")} if of_limit is Breaker.HALF_OPEN else set()
        if kinds[item.kind].breaker is Breaker.HALF_OPEN:
            expected.add(Guarded(Scope.KIND, item.kind))
        assert set(item.probes) == expected
    if Left.LIMIT_BREAKER_OPEN in plan.left.values():
        assert of_limit is not Breaker.CLOSED


@given(states, st.floats(0, 100), st.integers(0, 10), st.sampled_from([None, True, False]))
def test_a_breaker_closes_only_by_a_probe_and_opens_only_by_failures(
    state: Breaker, age: float, failures: int, probe: bool | None
) -> None:
    policy = BreakerPolicy(failures=3, window=60, open_for=30)
    after = next_state(BreakerFacts(state, age, failures, probe), policy)
    if state is not Breaker.CLOSED and after is Breaker.CLOSED:
        assert state is Breaker.HALF_OPEN
        assert probe
    if state is Breaker.CLOSED and after is not state:
        assert after is Breaker.OPEN
        assert failures >= 3
    if state is Breaker.OPEN and after is not state:
        assert after is Breaker.HALF_OPEN
        assert age >= 30
