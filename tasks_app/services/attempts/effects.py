"""What handlers do once: begun and recorded under a live lease, settled by a human where unsure."""

import json
from typing import Any
from uuid import UUID

from tasks_app.core.attempts.effects import EffectVerdict, IfUnsure, judge_effect
from tasks_app.sdk.link import EffectStart
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.transactions import transactional
from tasks_app.store.attempts import effects

_dumps = json.JSONEncoder(allow_nan=False).encode


@transactional
def begin_effect(
    worker_id: UUID, task_id: UUID, token: int, name: str, if_unsure: IfUnsure
) -> EffectStart:
    """Judge whether the holder of a lease may do an effect, and record the start if so."""
    if not effects.hold(worker_id, task_id, token):
        return EffectStart(EffectVerdict.STALE)
    found = effects.find(task_id, name)
    verdict = judge_effect(None if found is None else found.facts, token, if_unsure)
    if verdict is EffectVerdict.RUN:
        effects.begin(task_id, name, token)
    if found is None or verdict is EffectVerdict.RUN:
        return EffectStart(verdict)
    return EffectStart(verdict, result=found.result, begun_under=found.facts.token)


@transactional
def finish_effect(worker_id: UUID, task_id: UUID, token: int, name: str, result: Any) -> bool:
    """Record a sanitised result; False, with nothing changed, when the lease is lost."""
    if not effects.hold(worker_id, task_id, token):
        return False
    effects.finish(task_id, name, token, _dumps(result))
    return True


@transactional
def take_back_effect(worker_id: UUID, task_id: UUID, token: int, name: str) -> bool:
    """Forget a start after which nothing was done; False when the lease is lost."""
    if not effects.hold(worker_id, task_id, token):
        return False
    effects.take_back(task_id, name, token)
    return True


class NotInDoubt(Exception):
    """There is nothing for a human to settle, in one sentence."""


@needs(Role.OPERATOR)
@transactional
def settle_effect(
    task_id: UUID, name: str, actor: Actor, reason: str, *, happened: bool, result: Any = None
) -> None:
    """Record a human's finding: the effect was done, with ``result``, or it certainly was not.

    Raises NotInDoubt, and ValueError without a reason.
    """
    if not reason.strip():
        raise ValueError("reason: empty; say in a few words how you know")
    if not effects.hold_at_rest(task_id):
        raise NotInDoubt(f"task {task_id} does not exist, or is RUNNING: its worker knows better")
    if happened:
        settled = effects.settle_happened(task_id, name, _dumps(result))
    else:
        settled = effects.settle_undone(task_id, name)
    if not settled:
        raise NotInDoubt(f"task {task_id} has no effect {name!r} that was begun and not finished")
    note(
        actor,
        "settle effect",
        str(task_id),
        reason=reason.strip(),
        effect=name,
        happened=happened,
    )
