"""The record: schema, constraints and partial indexes. No rules live here."""

from tasks_app.models.kinds import Kind, RoundRobinCursor
from tasks_app.models.people import ApiToken, AuditEntry
from tasks_app.models.supervision import Leader, Sample, SupervisorSettings
from tasks_app.models.tasks import (
    Attempt,
    Dependency,
    LateResult,
    Lease,
    Settled,
    StatusCount,
    StatusDelta,
    Task,
)
from tasks_app.models.workers import Capability, Heartbeat, Worker

__all__ = [
    "ApiToken",
    "Attempt",
    "AuditEntry",
    "Capability",
    "Dependency",
    "Heartbeat",
    "Kind",
    "LateResult",
    "Leader",
    "Lease",
    "RoundRobinCursor",
    "Sample",
    "Settled",
    "StatusCount",
    "StatusDelta",
    "SupervisorSettings",
    "Task",
    "Worker",
]
