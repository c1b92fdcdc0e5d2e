"""Tasks, the leases in flight and the attempts behind them."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext_noop

from tasks_app.core.states import (
    FAILURES,
    UNFINISHED,
    DeadReason,
    Outcome,
    Status,
)
from tasks_app.models.choices import choices, one_of
from tasks_app.models.ids import new_id


class Task(models.Model):
    """The unit of work: a row with a status, never a function call.

    ``ready_at`` is since when the task has been ready (``store/reads/dispatch/readiness.py``), and
    ``queue_at`` the same less the head start that the priority is worth; ``waiting_on`` counts the
    dependencies not met yet and the ``holds``: a pause of its job, and preparation while it is
    ``unprepared``; ``token`` is the fencing token of the last lease granted.
    ``fingerprint`` is that of its last death.
    ``submitted`` is a hash of what a task with a key came with, whatever people changed since.
    ``lock_key`` names what the task needs for itself alone; ``weight`` is its share of its limit.
    ``origins`` say where a job's task got parts of its values from: what is hidden there is hidden
    here (``core/masking/origins.py``).
    """

    id = models.UUIDField(primary_key=True, default=new_id)
    kind = models.ForeignKey(
        "Kind", models.PROTECT, db_column="kind", db_index=False, related_name="+"
    )
    status = models.CharField(max_length=10, choices=choices(Status), db_default=Status.PENDING)
    payload = models.JSONField()
    origins = models.JSONField(null=True)
    key = models.CharField(max_length=200, null=True)
    submitted = models.BigIntegerField(null=True)
    priority = models.SmallIntegerField(db_default=0)
    estimate_seconds = models.FloatField()
    created_at = models.DateTimeField(db_default=Now())
    run_at = models.DateTimeField(db_default=Now())
    queue_at = models.DateTimeField(db_default=Now())
    ready_at = models.DateTimeField(null=True)
    deadline_at = models.DateTimeField(null=True)
    lock_key = models.CharField(max_length=200, null=True)
    weight = models.FloatField(db_default=1.0)
    cancel_asked = models.BooleanField(db_default=False)
    job = models.ForeignKey("Job", models.CASCADE, null=True, db_index=False, related_name="tasks")
    holds = models.SmallIntegerField(db_default=0)
    unprepared = models.BooleanField(db_default=False)
    waiting_on = models.IntegerField(db_default=0)
    dependency_count = models.IntegerField(db_default=0)
    has_dependents = models.BooleanField(db_default=False)
    token = models.BigIntegerField(null=True)
    assigned_to = models.ForeignKey(
        "Worker",
        models.DO_NOTHING,
        db_column="assigned_to",
        null=True,
        db_index=False,
        db_constraint=False,
        related_name="+",
    )
    attempts = models.IntegerField(db_default=0)
    max_attempts = models.SmallIntegerField()
    total_attempts = models.IntegerField(db_default=0)
    requeues = models.IntegerField(db_default=0)
    free_reclaims = models.IntegerField(db_default=0)
    result = models.JSONField(null=True)
    error = models.JSONField(null=True)
    dead_reason = models.CharField(max_length=20, choices=choices(DeadReason), null=True)
    fingerprint = models.CharField(max_length=16, null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "task"
        permissions = [
            ("see_payloads", gettext_noop("May see payloads whole, redacted keys included"))
        ]
        constraints = [
            models.CheckConstraint(name="task_status_known", condition=one_of("status", Status)),
            models.CheckConstraint(
                name="task_dead_has_reason",
                condition=Q(status=Status.DEAD, dead_reason__isnull=False) | ~Q(status=Status.DEAD),
            ),
            models.CheckConstraint(
                name="task_active_has_worker",
                condition=~Q(status__in=[Status.ASSIGNED, Status.RUNNING])
                | Q(assigned_to__isnull=False, token__isnull=False),
            ),
            models.CheckConstraint(
                name="task_attempts_in_budget", condition=Q(attempts__lte=F("max_attempts"))
            ),
            models.CheckConstraint(name="task_waiting_on_min", condition=Q(waiting_on__gte=0)),
            models.CheckConstraint(name="task_holds_min", condition=Q(holds__gte=0)),
            models.CheckConstraint(name="task_estimate_min", condition=Q(estimate_seconds__gt=0)),
            models.CheckConstraint(name="task_weight_min", condition=Q(weight__gt=0)),
            models.UniqueConstraint(
                name="task_key_once", fields=["kind", "key"], condition=Q(key__isnull=False)
            ),
        ]
        indexes = [
            # The ready queue: one range scan a kind, in the order of dispatch. The start time is in
            # it so that tasks whose start time is ahead are passed over without reading their rows.
            models.Index(
                name="task_ready",
                fields=["kind", "queue_at", "id", "run_at"],
                condition=Q(status=Status.PENDING, waiting_on=0),
            ),
            # The same for each job: where one fills the beginning of the queue, the others are
            # sought here. Tasks without a job cost it nothing.
            models.Index(
                name="task_ready_of_job",
                fields=["kind", "job", "queue_at", "id", "run_at"],
                condition=Q(status=Status.PENDING, waiting_on=0, job__isnull=False),
            ),
            # By kind, because one without credit for retries must not hide those of others.
            models.Index(
                name="task_retry_due", fields=["kind", "run_at"], condition=Q(status=Status.FAILED)
            ),
            # The task that has been ready and unfinished for longest; one that waits for a
            # dependency has not begun to wait for a worker.
            models.Index(
                Coalesce("ready_at", "created_at"),
                name="task_oldest",
                condition=Q(status__in=sorted(UNFINISHED), waiting_on=0),
            ),
            models.Index(
                name="task_deadline",
                fields=["deadline_at"],
                condition=Q(deadline_at__isnull=False, status__in=sorted(UNFINISHED)),
            ),
            models.Index(
                name="task_poisoned",
                fields=["kind", "finished_at"],
                condition=Q(dead_reason=DeadReason.POISON),
            ),
            models.Index(name="task_of_job", fields=["job", "id"], condition=Q(job__isnull=False)),
            # What a job has to let go before it ends; those that were asked to stand behind.
            models.Index(
                name="task_of_job_open",
                fields=["job", "cancel_asked", "id"],
                condition=Q(job__isnull=False, status__in=sorted({*UNFINISHED, Status.DEAD})),
            ),
            # What the way back of a job undoes, the last to complete first.
            models.Index(
                name="task_of_job_done",
                fields=["job", "finished_at", "id"],
                condition=Q(job__isnull=False, status=Status.COMPLETED),
            ),
            models.Index(
                name="task_dead",
                fields=["finished_at", "id"],
                condition=Q(status=Status.DEAD),
            ),
            # What has been kept for long enough, the oldest first; one entry an end. Tasks of jobs
            # go with their job.
            models.Index(
                name="task_completed",
                fields=["finished_at", "id"],
                condition=Q(status=Status.COMPLETED, job__isnull=True),
            ),
            models.Index(
                name="task_closed",
                fields=["finished_at", "id"],
                condition=Q(
                    status__in=[Status.CANCELLED, Status.DISMISSED, Status.SKIPPED],
                    job__isnull=True,
                ),
            ),
            models.Index(
                name="task_dead_alike",
                fields=["fingerprint", "finished_at", "id"],
                condition=Q(status=Status.DEAD),
            ),
            # Whatever became of them since: few tasks have ever died.
            models.Index(
                name="task_alike",
                fields=["fingerprint", "id"],
                condition=Q(fingerprint__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind_id} {self.id}"


class Lease(models.Model):
    """The right to work on a task; only what is in flight, so that a sweep costs no more.

    ``expected_seconds`` is estimate / skill; ``started_at`` is empty until the worker claims.
    ``held_until`` is when a person's lease ends; a machine's ends with its signs of life.
    """

    task = models.OneToOneField(Task, models.CASCADE, primary_key=True)
    worker = models.ForeignKey("Worker", models.PROTECT, db_index=False, related_name="leases")
    kind = models.CharField(max_length=100)
    token = models.BigIntegerField()
    expected_seconds = models.FloatField()
    lock_key = models.CharField(max_length=200, null=True)
    weight = models.FloatField(db_default=1.0)
    assigned_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    held_until = models.DateTimeField(null=True)

    class Meta:
        db_table = "lease"
        constraints = [
            models.UniqueConstraint(
                name="lease_lock_once", fields=["lock_key"], condition=Q(lock_key__isnull=False)
            ),
        ]
        indexes = [
            # What a worker may claim next, oldest grant first.
            models.Index(
                name="lease_claimable",
                fields=["worker", "token"],
                condition=Q(started_at__isnull=True),
            ),
            models.Index(
                name="lease_of_person",
                fields=["held_until"],
                condition=Q(held_until__isnull=False),
            ),
        ]


class Attempt(models.Model):
    """The history of one lease, written once when it ends and never changed."""

    token = models.BigIntegerField(primary_key=True)
    task = models.ForeignKey(Task, models.CASCADE, related_name="history")
    kind = models.CharField(max_length=100)
    worker = models.ForeignKey(
        "Worker", models.DO_NOTHING, db_index=False, db_constraint=False, related_name="+"
    )
    number = models.IntegerField()
    requeues = models.IntegerField(db_default=0)
    assigned_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(db_default=Now())
    outcome = models.CharField(max_length=20, choices=choices(Outcome))
    error = models.JSONField(null=True)
    dead_reason = models.CharField(max_length=20, choices=choices(DeadReason), null=True)
    next_run_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "attempt"
        constraints = [
            models.CheckConstraint(
                name="attempt_outcome_known", condition=one_of("outcome", Outcome)
            ),
        ]
        indexes = [
            # What a breaker counts; successes cost it nothing.
            models.Index(
                name="attempt_failed",
                fields=["kind", "ended_at"],
                condition=Q(outcome__in=sorted(FAILURES)),
            ),
        ]
