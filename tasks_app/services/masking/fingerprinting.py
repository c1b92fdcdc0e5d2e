"""The fingerprints of deaths, taken from what everybody may read of their errors."""

from collections.abc import Sequence
from dataclasses import replace

from tasks_app.core.failures.fingerprints import BY_ERROR
from tasks_app.store.attempts.leases import LeaseEnd
from tasks_app.store.reads.hidden_words import fingerprints_of


def with_fingerprints(ends: Sequence[LeaseEnd]) -> list[LeaseEnd]:
    """The ends of leases, the deaths among them with the fingerprint of their error."""
    errors = {end.task_id: end.error for end in ends if end.error and end.dead_reason in BY_ERROR}
    found = fingerprints_of(errors)
    return [
        replace(end, fingerprint=found[end.task_id]) if end.task_id in found else end
        for end in ends
    ]
