"""What went nearly wrong, for people to look at: reports that came too late, and near misses."""

from django.db import models
from django.db.models.functions import Now

from tasks_app.core.states import Outcome
from tasks_app.models.choices import choices


class LateResult(models.Model):
    """The ledger of rejected reports: what arrived under a token that was no longer held."""

    id = models.BigAutoField(primary_key=True)
    task_id = models.UUIDField(db_index=True)
    worker_id = models.UUIDField()
    token_held = models.BigIntegerField()
    token_now = models.BigIntegerField(null=True)
    overlap_seconds = models.FloatField(null=True)
    outcome = models.CharField(max_length=20, choices=choices(Outcome))
    result = models.JSONField(null=True)
    received_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "late_result"


class NearMiss(models.Model):
    """A lease that was renewed or ended with less than a fifth of its time left.

    ``silent_seconds`` is how long its worker had given no sign of life, of ``stale_after_seconds``.
    """

    id = models.BigAutoField(primary_key=True)
    worker = models.ForeignKey("Worker", models.CASCADE, related_name="+")
    at = models.DateTimeField(db_default=Now())
    leases = models.IntegerField()
    silent_seconds = models.FloatField()
    stale_after_seconds = models.FloatField()

    class Meta:
        db_table = "near_miss"
