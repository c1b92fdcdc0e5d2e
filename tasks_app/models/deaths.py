"""Deaths, one row each, and what people have said about errors that are alike."""

from django.db import models
from django.db.models.functions import Now


class Death(models.Model):
    """A task became DEAD: written once, so that a group's history outlives its requeues.

    ``worker_id`` is that of the attempt that it died in, None where it died waiting.
    """

    id = models.BigAutoField(primary_key=True)
    task_id = models.UUIDField()
    kind = models.CharField(max_length=100)
    fingerprint = models.CharField(max_length=16)
    worker_id = models.UUIDField(null=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "death"
        indexes = [models.Index(name="death_alike", fields=["fingerprint", "at"])]


class DeadGroup(models.Model):
    """What people have done about the dead letters of one fingerprint; no row where nothing.

    ``dismissed_at`` is when the last of them was dismissed: what dies later has come back.
    """

    fingerprint = models.CharField(max_length=16, primary_key=True)
    assigned_to = models.CharField(max_length=150, db_default="")
    note = models.TextField(db_default="")
    dismissed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "dead_group"
