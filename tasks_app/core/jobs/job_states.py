"""Words of jobs: where a job stands, what a failed step means to it, what a task is in it."""

from enum import StrEnum
from typing import Final


class JobStatus(StrEnum):
    """Where a job stands.

    DEAD waits for a human: nothing of it can move before a step is requeued, dismissed, or the job
    compensated or cancelled.
    """

    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    COMPENSATING = "COMPENSATING"
    COMPENSATED = "COMPENSATED"
    DEAD = "DEAD"
    CANCELLED = "CANCELLED"


class JobPolicy(StrEnum):
    """What a job does when a step that it needs will not complete: undo it all, or ask a human."""

    ASK = "ask"
    COMPENSATE = "compensate"


class Role(StrEnum):
    """What a task is in its job.

    A ``join`` stands for a step with ``for_each``: no worker runs it, the supervisor completes it
    with the results of its ``item`` tasks.
    """

    STEP = "step"
    JOIN = "join"
    ITEM = "item"
    COMPENSATION = "compensation"


class CountedAs(StrEnum):
    """What an item is to its join: it may still move, it is COMPLETED, or it brings nothing."""

    OPEN = "open"
    COMPLETED = "completed"
    LOST = "lost"


JOB_FINAL: Final = frozenset({JobStatus.COMPLETED, JobStatus.COMPENSATED, JobStatus.CANCELLED})
"""Statuses after which no task of the job can move any more."""

JOIN_KIND: Final = "join"
"""The kind of every join; the supervisor's own, offered by no worker."""
