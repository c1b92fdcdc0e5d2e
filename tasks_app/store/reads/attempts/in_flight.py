"""What is in flight: leases by worker and token."""

from collections.abc import Sequence
from uuid import UUID

from tasks_app.models import Lease


def tokens_held(worker_id: UUID, tokens: Sequence[int]) -> dict[int, bool]:
    """Which of these tokens are live leases of the worker, and whether a cancel is asked for."""
    if not tokens:
        return {}
    held = Lease.objects.filter(worker_id=worker_id, token__in=list(tokens))
    return dict(held.values_list("token", "task__cancel_asked"))
