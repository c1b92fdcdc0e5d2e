"""How a change of a strategy would spread what is ready, or what ran last where nothing is."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from tasks_app.core.facts import KindPolicy, Snapshot, StrategyName, TaskFacts
from tasks_app.core.settings.hand_out_previews import preview_strategy
from tasks_app.core.settings.kind_previews import KindPast
from tasks_app.store.reads.dispatch.round_snapshot import read_snapshot
from tasks_app.store.reads.settings.configuration import supervisor_settings

REPLAYED: Final = 300
"""Latest attempts that stand for ready tasks where none is ready."""


def spread(kinds: Sequence[str], after: StrategyName, past: KindPast | None) -> list[str]:
    """Say who would get the tasks of these kinds; ``past`` may stand for them if none is ready."""
    snapshot, _ = read_snapshot(supervisor_settings(), seed=1)
    made_up = not any(task.kind in kinds for task in snapshot.ready)
    if made_up and past is not None:
        snapshot = _replayed(snapshot, kinds[0], past)
    return list(preview_strategy(snapshot, kinds, after, made_up=made_up))


def _replayed(snapshot: Snapshot, kind: str, past: KindPast) -> Snapshot:
    """The floor as if the latest attempts were ready once more, and nobody held anything."""
    chance = random.Random(1)
    latest = past.attempts[:REPLAYED]
    tasks = [
        TaskFacts(
            UUID(int=chance.getrandbits(128)),
            kind,
            priority=0,
            queue_at=float(place),
            estimate=max(0.001, attempt.seconds * attempt.skill),
        )
        for place, attempt in enumerate(reversed(latest))
    ]
    idle = [replace(worker, active=0, queued_seconds=0.0) for worker in snapshot.workers]
    policies = {**snapshot.kinds, kind: _open(snapshot.kinds.get(kind) or KindPolicy(kind))}
    return replace(snapshot, ready=tasks, workers=idle, kinds=policies, limits={})


def _open(policy: KindPolicy) -> KindPolicy:
    return replace(policy, paused=False, limit=None)
