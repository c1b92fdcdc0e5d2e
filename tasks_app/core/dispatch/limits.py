"""May this task start now? Shared limits, locks and breakers, as one gate of a round."""

from collections.abc import Mapping

from tasks_app.core.bounds import LOWEST_WEIGHT, clamped
from tasks_app.core.facts import (
    Breaker,
    Guarded,
    KindPolicy,
    Left,
    LimitFacts,
    Scope,
    Snapshot,
    TaskFacts,
)
from tasks_app.core.intake.new_tasks import HIGHEST_WEIGHT


def refill(tokens: float, elapsed: float, rate: float, burst: float) -> float:
    """The token bucket after ``elapsed`` seconds: never above ``burst``.

    >>> refill(tokens=0, elapsed=2, rate=10, burst=5), refill(1, 0.1, 10, 5)
    (5, 2.0)
    """
    return min(burst, tokens + max(0.0, elapsed) * rate)


class Gate:
    """What one round may still hand out; ``admit`` only looks, ``take`` uses up."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._locked = set(snapshot.locked)
        self._limits = dict(snapshot.limits)
        self._free = {
            name: limit.free for name, limit in self._limits.items() if limit.free is not None
        }
        self._tokens = {
            name: limit.tokens for name, limit in self._limits.items() if limit.tokens is not None
        }
        self._awaited: dict[str, Left] = {}
        self._probed: set[Guarded] = set()
        self.spent: dict[str, float] = {}

    def admit(self, task: TaskFacts, policy: KindPolicy) -> Left | None:
        """Why the task may not start now, or None."""
        if policy.breaker is Breaker.HALF_OPEN and Guarded(Scope.KIND, task.kind) in self._probed:
            return Left.BREAKER_OPEN
        if task.lock_key is not None and task.lock_key in self._locked:
            return Left.LOCKED
        limit = self._limits.get(policy.limit) if policy.limit else None
        return None if limit is None else self._refusal(limit, task.weight)

    def _refusal(self, limit: LimitFacts, weight: float) -> Left | None:
        if limit.paused:
            return Left.LIMIT_PAUSED
        probed = Guarded(Scope.LIMIT, limit.name) in self._probed
        if limit.breaker is Breaker.OPEN or (limit.breaker is Breaker.HALF_OPEN and probed):
            return Left.LIMIT_BREAKER_OPEN
        if limit.name in self._awaited:
            return self._awaited[limit.name]
        # A task heavier than the whole limit goes when all of it is free, one heavier than the
        # burst when the bucket is full: else they never could.
        weight = clamped(weight, LOWEST_WEIGHT, HIGHEST_WEIGHT)
        wanted = weight if limit.most is None else min(weight, limit.most)
        if limit.name in self._free and self._free[limit.name] < wanted:
            return Left.LIMIT_FULL
        if limit.name in self._tokens and self._tokens[limit.name] < min(weight, limit.burst):
            return Left.RATE_LIMITED
        return None

    def pass_over(self, policy: KindPolicy, reason: Left) -> None:
        """Have those behind a task that waits for room in its limit wait too.

        Else light ones would take whatever comes free, and a heavy one would wait for ever.
        """
        if policy.limit and reason in (Left.LIMIT_FULL, Left.RATE_LIMITED):
            self._awaited[policy.limit] = reason

    def take(self, task: TaskFacts, policy: KindPolicy) -> tuple[Guarded, ...]:
        """Use up what the task needs; tell of which half-open breakers it is the probe."""
        if task.lock_key is not None:
            self._locked.add(task.lock_key)
        name = policy.limit
        weight = clamped(task.weight, LOWEST_WEIGHT, HIGHEST_WEIGHT)
        if name in self._free:
            self._free[name] -= weight
        if name in self._tokens:
            self._tokens[name] -= weight
            self.spent[name] = self.spent.get(name, 0.0) + weight
        limit = self._limits.get(name) if name else None
        if policy.breaker is not Breaker.HALF_OPEN and (
            limit is None or limit.breaker is not Breaker.HALF_OPEN
        ):
            return ()
        probes = []
        if policy.breaker is Breaker.HALF_OPEN:
            probes.append(Guarded(Scope.KIND, task.kind))
        if limit is not None and limit.breaker is Breaker.HALF_OPEN:
            probes.append(Guarded(Scope.LIMIT, limit.name))
        self._probed.update(probes)
        return tuple(probes)


def closed_kinds(policies: Mapping[str, KindPolicy]) -> dict[str, Left]:
    """Kinds of which nothing is handed out this round, each with its reason."""
    closed: dict[str, Left] = {}
    for kind, policy in policies.items():
        if policy.paused:
            closed[kind] = Left.KIND_PAUSED
        elif policy.quarantined:
            closed[kind] = Left.KIND_QUARANTINED
        elif policy.breaker is Breaker.OPEN:
            closed[kind] = Left.BREAKER_OPEN
        elif policy.by_people:
            closed[kind] = Left.FOR_PEOPLE
    return closed
