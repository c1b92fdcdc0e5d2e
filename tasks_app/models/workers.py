"""Workers: one row a boot, what it can do, and its sign of life."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.states import BootEnding, WorkerState
from tasks_app.models.choices import choices, one_of
from tasks_app.models.ids import new_id


class Worker(models.Model):
    """One boot of a worker process: a new identity each time, whatever its name.

    ``drain_asked`` is the operator's wish; ``state`` is what became of the boot, ``ending`` why. A
    ``user`` who takes steps from the inbox has one row too, in a state of its own that makes it no
    machine.
    """

    id = models.UUIDField(primary_key=True, default=new_id)
    name = models.CharField(max_length=100)
    host = models.CharField(max_length=200, db_default="")
    pid = models.IntegerField(db_default=0)
    version = models.CharField(max_length=100, db_default="")
    slots = models.IntegerField()
    state = models.CharField(
        max_length=10, choices=choices(WorkerState), db_default=WorkerState.ACTIVE
    )
    drain_asked = models.BooleanField(db_default=False)
    registered_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)
    ending = models.CharField(max_length=10, choices=choices(BootEnding), null=True)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        db_table = "worker"
        constraints = [
            models.CheckConstraint(name="worker_slots_min", condition=Q(slots__gte=1)),
            models.CheckConstraint(
                name="worker_state_known", condition=one_of("state", WorkerState)
            ),
            models.CheckConstraint(
                name="worker_ending_known", condition=one_of("ending", BootEnding)
            ),
            models.CheckConstraint(
                name="worker_user_is_person",
                condition=Q(user__isnull=True) | Q(state=WorkerState.PERSON),
            ),
            models.UniqueConstraint(
                name="worker_name_live_once",
                fields=["name"],
                condition=Q(state__in=[WorkerState.ACTIVE, WorkerState.DRAINING]),
            ),
        ]
        indexes = [
            models.Index(name="worker_newest", fields=["name", "-registered_at"]),
        ]

    def __str__(self) -> str:
        return self.name


class Capability(models.Model):
    """What a worker can do and how well: expected seconds = estimate / skill."""

    pk = models.CompositePrimaryKey("worker_id", "kind")
    worker = models.ForeignKey(Worker, models.CASCADE, db_index=False, related_name="capabilities")
    kind = models.CharField(max_length=100, db_index=True)
    skill = models.FloatField(db_default=1.0)

    class Meta:
        db_table = "capability"
        constraints = [
            models.CheckConstraint(name="capability_skill_min", condition=Q(skill__gt=0)),
        ]


class Heartbeat(models.Model):
    """A worker's last sign of life and the tokens it named; narrow, so that renewing is cheap.

    ``previous_at`` is the sign of life before. A lease that started before it, and two heartbeat
    intervals before the latest one, cannot merely be on its way to the worker.
    """

    worker = models.OneToOneField(
        Worker, models.CASCADE, primary_key=True, related_name="heartbeat"
    )
    at = models.DateTimeField(db_default=Now())
    previous_at = models.DateTimeField(db_default=Now())
    held = ArrayField(models.BigIntegerField(), db_default=[])
    progress = models.JSONField(db_default={})

    class Meta:
        db_table = "heartbeat"
