"""Since when a task has been ready: the one beginning of all waits for a worker.

``task.ready_at`` says when its start time was reached and it waited for nothing any more, where
that is not the instant of its submission; a retry waits from its own ``run_at`` on.
"""

from typing import Final

READY_SINCE: Final = "coalesce(ready_at, created_at)"
"""When the task could be handed out for the first time since it was submitted or requeued; ahead of
now while its start time is. Retries leave it, so that a task that keeps failing grows old. The
index task_oldest is on this."""

WAITS_SINCE: Final = "greatest(run_at, ready_at)"
"""When its present wait for a worker began; ahead of now while its start time or retry is."""


def becoming_ready(waits_for: str) -> str:
    """The assignments of an UPDATE of task ``t`` that leaves it waiting for ``waits_for`` things.

    Its place in the queue is that of a task submitted now: while it waited for others it was not
    in the queue, and must not stand ahead of those that were.
    """
    return f"""ready_at = CASE WHEN {waits_for} < 1 AND t.status IN ('PENDING', 'FAILED')
                       THEN greatest(t.run_at, statement_timestamp()) ELSE t.ready_at END,
       queue_at = CASE WHEN {waits_for} < 1 AND t.status IN ('PENDING', 'FAILED')
                       THEN greatest(t.run_at, statement_timestamp())
                            - t.priority * interval '1 second'
                              * (SELECT priority_head_start_seconds FROM supervisor_settings)
                       ELSE t.queue_at END"""  # noqa: S608  the words of callers in this layer
