"""What is in flight: leases by worker and token."""

from collections.abc import Sequence
from uuid import UUID

from tasks_app.models import Lease


def tokens_held(worker_id: UUID, tokens: Sequence[int]) -> set[int]:
    """Which of these tokens are live leases of the worker."""
    if not tokens:
        return set()
    return set(
        Lease.objects.filter(worker_id=worker_id, token__in=list(tokens)).values_list(
            "token", flat=True
        )
    )
