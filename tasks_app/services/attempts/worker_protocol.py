"""What workers ask of the record: register, claim, renew, report, leave.

Each function is one transaction. User code never runs inside one.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final
from uuid import UUID

from tasks_app import events
from tasks_app.core.attempts.reports import is_token, progress_note
from tasks_app.core.attempts.retry import asked_wait
from tasks_app.core.bounds import clamped
from tasks_app.core.dispatch.declarations import declaration_faults
from tasks_app.core.failures.error_text import clean_error
from tasks_app.core.states import Outcome
from tasks_app.models.ids import new_id
from tasks_app.sdk.link import (
    Completion,
    DeclarationRefused,
    Failure,
    Grant,
    Orders,
    Progress,
    Registered,
    Registration,
    WorkerReplaced,
    WorkerUnknown,
)
from tasks_app.services.attempts.lease_ends import release_held, retry_ends
from tasks_app.services.masking.fingerprinting import with_fingerprints
from tasks_app.services.transactions import transactional
from tasks_app.store import workers
from tasks_app.store.attempts import late_results, lease_locks, leases, task_logs
from tasks_app.store.attempts.lease_locks import RunningTask
from tasks_app.store.dispatch import breakers
from tasks_app.store.reads.attempts.in_flight import tokens_held
from tasks_app.store.reads.dispatch.overview import MISSED_HEARTBEATS
from tasks_app.store.reads.settings.configuration import (
    kind_policies,
    retry_policies,
    supervisor_settings,
)

TOO_MANY_REQUESTS: Final = 429
MOST_CLAIMED: Final = 10_000

_rng = random.Random()
_dumps = json.JSONEncoder(allow_nan=False).encode


@transactional
def register(registration: Registration) -> Registered:
    """Begin a boot; the leases of an older boot of that name go back at once, as from the dead.

    Raises DeclarationRefused for a number or a name that is out of bounds.
    """
    if faults := list(declaration_faults(**asdict(registration))):
        raise DeclarationRefused("; ".join(faults))
    settings = supervisor_settings()
    worker_id = new_id()
    workers.register(
        worker_id,
        name=registration.name,
        host=registration.host,
        pid=registration.pid,
        version=registration.version,
        slots=registration.slots,
        skills=registration.skills,
        silent_after=MISSED_HEARTBEATS * settings.heartbeat_seconds,
    )
    events.wake_supervisor()
    policies = kind_policies()
    return Registered(
        worker_id,
        settings.heartbeat_seconds,
        settings.stale_after_seconds,
        for_people=[kind for kind in sorted(registration.skills) if policies[kind].by_people],
    )


@transactional
def claim(worker_id: UUID, limit: int) -> list[Grant]:
    """Start up to ``limit`` of what is assigned to the worker."""
    rows = leases.claim(worker_id, int(clamped(limit, 0, MOST_CLAIMED)))
    payloads = _loaded([row[3] for row in rows])
    inputs = _loaded([row[6] or "{}" for row in rows])
    return [
        Grant(
            task_id=task_id,
            token=token,
            kind=kind,
            payload=payloads[place],
            attempt=attempt,
            key=str(task_id),
            timeout=float(timeout),
            inputs=inputs[place],
        )
        for place, (task_id, token, kind, _, attempt, timeout, _) in enumerate(rows)
    ]


def _loaded(texts: Sequence[str]) -> list[Any]:
    """The values of JSON texts; Django registers no jsonb loader for raw cursors.

    All of them at once: to begin with each anew takes 4 us, ten times as long as to read it.
    """
    values: list[Any] = json.loads(f"[{','.join(texts)}]")
    return values


def heartbeat(worker_id: UUID, tokens: Sequence[int], progress: Sequence[Progress]) -> Orders:
    """Record a sign of life that names the tokens still worked on.

    Raises WorkerUnknown when this boot was lost, WorkerReplaced when another one has its name; that
    its process still speaks is recorded then.
    """
    try:
        return _beat(worker_id, tokens, progress)
    except WorkerUnknown:
        _note_alive(worker_id)
        raise


@transactional
def _note_alive(worker_id: UUID) -> None:
    workers.note_alive(worker_id)


@transactional
def _beat(worker_id: UUID, tokens: Sequence[int], progress: Sequence[Progress]) -> Orders:
    told = [p for p in progress if is_token(p.token)]
    notes = {str(p.token): progress_note(p.fraction, p.note) for p in told}
    task_logs.keep(worker_id, {p.token: p.lines for p in told if p.lines})
    breakers.note_near_miss(worker_id)
    named = [token for token in tokens if is_token(token)]
    drain = workers.beat(worker_id, named, notes)
    if drain is None:
        if workers.is_replaced(worker_id):
            raise WorkerReplaced(f"another process has the name of worker {worker_id}")
        raise WorkerUnknown(f"worker {worker_id} was lost; it must register anew")
    held = tokens_held(worker_id, named)
    return Orders(
        drain=drain,
        lost=[token for token in tokens if token not in held],
        cancel=[token for token, asked in held.items() if asked],
    )


@transactional
def complete(worker_id: UUID, completions: Sequence[Completion]) -> list[int]:
    """Complete tasks whose token still holds; the others go to the late-result ledger.

    What cannot be a token at all is stale, and nothing of it is kept.
    """
    reported, completions = completions, [c for c in completions if is_token(c.token)]
    accepted = leases.complete(
        worker_id,
        [c.task_id for c in completions],
        [c.token for c in completions],
        _dumps([c.result for c in completions]),
    )
    task_logs.keep(worker_id, {c.token: c.lines for c in completions if c.lines})
    late = [c for c in completions if c.token not in accepted]
    if late:
        late_results.record_late(
            worker_id,
            [c.task_id for c in late],
            [c.token for c in late],
            [_dumps(c.result) for c in late],
            Outcome.COMPLETED,
        )
    return [c.token for c in reported if c.token not in accepted]


@transactional
def fail(worker_id: UUID, failures: Sequence[Failure]) -> list[int]:
    """Record failed attempts: a retry with backoff, or DEAD; late ones go to the ledger.

    What cannot be a token at all is stale, and nothing of it is kept.
    """
    reported = failures
    failures = [replace(f, error=clean_error(f.error)) for f in failures if is_token(f.token)]
    by_token = {f.token: f for f in failures}
    held = lease_locks.lock_running(
        worker_id, [f.task_id for f in failures], [f.token for f in failures]
    )
    policies = retry_policies(sorted({task.kind for task in held}))
    breakers.note_near_miss(worker_id)
    _pause_limits(held, by_token)
    ended = leases.end(with_fingerprints(retry_ends(held, by_token, policies, _rng)))
    task_logs.keep(worker_id, {f.token: f.lines for f in failures if f.lines})
    late = [f for f in failures if f.token not in ended]
    if late:
        late_results.record_late(
            worker_id,
            [f.task_id for f in late],
            [f.token for f in late],
            [json.dumps(f.error.as_json()) for f in late],
            Outcome.ERROR,
        )
    return [f.token for f in reported if f.token not in ended]


def _pause_limits(held: Sequence[RunningTask], failures: Mapping[int, Failure]) -> None:
    """A 429 that names a wait speaks for everything behind the same limit."""
    for task in held:
        error = failures[task.token].error
        asked = asked_wait(error.retry_after)
        if task.limit and error.status == TOO_MANY_REQUESTS and asked:
            breakers.pause_limit(task.limit, asked)


@transactional
def drain(worker_id: UUID) -> None:
    """The worker takes nothing new; what it has not started goes back at once, free of charge."""
    workers.drain(worker_id)
    release_held([worker_id], begun=False, outcome=Outcome.RELEASED)
    events.wake_supervisor()


@transactional
def release(worker_id: UUID, tokens: Sequence[int]) -> None:
    """Take started tasks back unfinished; the attempt does not count."""
    named = [token for token in tokens if is_token(token)]
    release_held([worker_id], begun=True, outcome=Outcome.RELEASED, tokens=named)
    events.wake_supervisor()


@transactional
def deregister(worker_id: UUID) -> None:
    """End a boot in good order; whatever it still holds goes back at once."""
    workers.stop(worker_id)
    release_held([worker_id], begun=True, outcome=Outcome.RELEASED)
    events.wake_supervisor()
