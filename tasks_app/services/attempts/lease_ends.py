"""From decisions to lease ends: what a failure, a loss or a release does to a task."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from uuid import UUID

from tasks_app.core.attempts.retry import decide_reclaim, decide_retry
from tasks_app.core.facts import ErrorFacts, RetryDecision, RetryPolicy
from tasks_app.core.states import FREE, DeadReason, Outcome, Status
from tasks_app.sdk.link import Failure
from tasks_app.store.attempts import lease_locks, leases
from tasks_app.store.attempts.lease_locks import RunningTask
from tasks_app.store.attempts.leases import LeaseEnd
from tasks_app.store.attempts.sweep import LostLease
from tasks_app.store.jobs.human_steps import ExpiredStep
from tasks_app.store.reads.failures.casualties import casualties_of


def retry_ends(
    held: Sequence[RunningTask],
    failures: Mapping[int, Failure],
    policies: Mapping[str, RetryPolicy],
    rng: Random,
) -> list[LeaseEnd]:
    """Decide each failed attempt: FAILED with a delay, or DEAD with its reason."""
    ends = []
    for task in held:
        failure = failures[task.token]
        policy = replace(policies[task.kind], max_attempts=task.max_attempts)
        decision = decide_retry(failure.error, task.attempts, policy, rng)
        if failure.crashed and task.casualties + 1 >= task.poison_after:
            decision = RetryDecision(retry=False, dead_reason=DeadReason.POISON)
        ends.append(
            LeaseEnd(
                task.task_id,
                task.token,
                status=Status.FAILED if decision.retry else Status.DEAD,
                outcome=_outcome(failure),
                error=json.dumps(failure.error.as_json()),
                dead_reason=decision.dead_reason,
                delay=decision.delay if decision.retry else None,
            )
        )
    return _with_casualties(ends)


def _outcome(failure: Failure) -> Outcome:
    if failure.crashed:
        return Outcome.CRASHED
    return Outcome.TIMEOUT if failure.timed_out else Outcome.ERROR


LOST_MESSAGES = {
    Outcome.WORKER_LOST: ("WorkerLost", "Worker {worker} gave no sign of life while it ran this."),
    Outcome.NOT_NAMED: ("LeaseNotNamed", "Worker {worker} no longer named this task as its work."),
    Outcome.TIMEOUT: ("Timeout", "Worker {worker} did not stop this at its kind's timeout."),
    Outcome.REPLACED: (
        "WorkerReplaced",
        "A newer process took the name {worker} while this worker ran the task.",
    ),
    Outcome.STOPPED: (
        "WorkerStopped",
        "Worker {worker} was ended while it drained: its stop timeout is shorter than its --grace.",
    ),
    Outcome.RELEASED: ("WorkerLeft", "Worker {worker} left before it finished or released this."),
}


def reclaim_ends(lost: Sequence[LostLease]) -> list[LeaseEnd]:
    """Decide each lost lease: back to PENDING, or DEAD as exhausted or poison."""
    return _with_casualties(
        [_blameless_end(lease) if _is_blameless(lease) else _reclaim_end(lease) for lease in lost]
    )


def _reclaim_end(lease: LostLease) -> LeaseEnd:
    """A boot that was stopped or replaced is no casualty, and its attempts cost nothing.

    Unless no sign of life followed: a task that takes its worker down, which is started again at
    once under the same name, would go round for ever. Such boots count at the next end.
    """
    free = lease.outcome in FREE
    reason = decide_reclaim(
        started=lease.started and lease.outcome not in (Outcome.STOPPED, Outcome.RELEASED),
        attempts=lease.attempts + lease.unheard - (1 if free else 0),
        max_attempts=lease.max_attempts,
        distinct_dead_workers=lease.casualties,
        poison_after=lease.poison_after,
    )
    kind, message = LOST_MESSAGES[lease.outcome]
    error = ErrorFacts(type=kind, message=message.format(worker=lease.worker_name))
    return LeaseEnd(
        lease.task_id,
        lease.token,
        status=Status.PENDING if reason is None else Status.DEAD,
        outcome=lease.outcome,
        error=json.dumps(error.as_json()) if lease.started else None,
        dead_reason=reason,
        refund=free,
    )


def _is_blameless(lease: LostLease) -> bool:
    return lease.blameless and lease.outcome is Outcome.WORKER_LOST


def _blameless_end(lease: LostLease) -> LeaseEnd:
    """Back free of charge: a worker that reaches no record stops its work, as it must."""
    message = (
        f"The database was away for longer than worker {lease.worker_name} could wait for it. "
        "No attempt was used up."
    )
    error = ErrorFacts(type="DatabaseAway", message=message)
    return LeaseEnd(
        lease.task_id,
        lease.token,
        status=Status.PENDING,
        outcome=Outcome.RELEASED,
        error=json.dumps(error.as_json()) if lease.started else None,
        refund=True,
    )


def _with_casualties(ends: Sequence[LeaseEnd]) -> list[LeaseEnd]:
    """The error of a task that is poison names whom it took down."""
    names = casualties_of([e.task_id for e in ends if e.dead_reason == DeadReason.POISON])
    return [
        replace(end, error=json.dumps(json.loads(end.error) | {"casualties": names[end.task_id]}))
        if end.task_id in names and end.error
        else end
        for end in ends
    ]


def expiry_ends(expired: Sequence[ExpiredStep]) -> list[LeaseEnd]:
    """Back to the inbox, and no attempt used up: a person who went to lunch is no failure."""
    return [
        LeaseEnd(
            step.task_id,
            step.token,
            status=Status.PENDING,
            outcome=Outcome.EXPIRED,
            error=json.dumps(
                ErrorFacts(
                    type="TimeRanOut",
                    message=f"{step.person} took this and neither completed nor extended it.",
                ).as_json()
            ),
            refund=True,
        )
        for step in expired
    ]


def release_held(
    workers: Sequence[UUID],
    *,
    begun: bool,
    outcome: Outcome,
    tokens: Sequence[int] | None = None,
    why: ErrorFacts | None = None,
) -> int:
    """Give back what workers hold, without using up an attempt; return how many leases ended.

    ``why`` stands on the attempts that had begun.
    """
    error = None if why is None else json.dumps(why.as_json())
    held = lease_locks.lock_held(workers, begun=begun, tokens=tokens)
    return len(
        leases.end(
            [
                LeaseEnd(
                    task_id,
                    token,
                    status=Status.PENDING,
                    outcome=outcome,
                    error=error if started else None,
                    refund=True,
                )
                for task_id, token, started in held
            ]
        )
    )
