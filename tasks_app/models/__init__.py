"""The record: schema, constraints and partial indexes. No rules live here."""

from tasks_app.models.alerting import AlertChannel, AlertDelivery, AlertRule, AlertState
from tasks_app.models.alerts import AlertSettings
from tasks_app.models.bulks import Bulk, BulkItem
from tasks_app.models.counts import StatusCount, StatusDelta
from tasks_app.models.deaths import DeadGroup, Death
from tasks_app.models.dependencies import Dependency, Settled
from tasks_app.models.effects import Effect
from tasks_app.models.jobs import Job, JobNews, JobTurn, StepTask
from tasks_app.models.kinds import Kind, RoundRobinCursor
from tasks_app.models.ledgers import LateResult, NearMiss
from tasks_app.models.limits import BreakerState, Limit, LimitState, RetryCredit
from tasks_app.models.people import ApiToken, AuditEntry, AuditHead, RequestRate
from tasks_app.models.retention import Pruned, RetentionSettings
from tasks_app.models.searches import SavedSearch, SearchPin
from tasks_app.models.supervision import (
    Leader,
    Replica,
    Sample,
    Shift,
    SupervisorSettings,
)
from tasks_app.models.task_logs import TaskLog
from tasks_app.models.tasks import Attempt, Lease, Task
from tasks_app.models.workers import Capability, Heartbeat, Worker

__all__ = [
    "AlertChannel",
    "AlertDelivery",
    "AlertRule",
    "AlertSettings",
    "AlertState",
    "ApiToken",
    "Attempt",
    "AuditEntry",
    "AuditHead",
    "BreakerState",
    "Bulk",
    "BulkItem",
    "Capability",
    "DeadGroup",
    "Death",
    "Dependency",
    "Effect",
    "Heartbeat",
    "Job",
    "JobNews",
    "JobTurn",
    "Kind",
    "LateResult",
    "Leader",
    "Lease",
    "Limit",
    "LimitState",
    "NearMiss",
    "Pruned",
    "Replica",
    "RequestRate",
    "RetentionSettings",
    "RetryCredit",
    "RoundRobinCursor",
    "Sample",
    "SavedSearch",
    "SearchPin",
    "Settled",
    "Shift",
    "StatusCount",
    "StatusDelta",
    "StepTask",
    "SupervisorSettings",
    "Task",
    "TaskLog",
    "Worker",
]
