"""Jobs: plans of named steps, the tasks that carry them out, and the inbox of what moved."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.jobs.job_states import JOB_FINAL, CountedAs, JobStatus, Role
from tasks_app.models.choices import choices, one_of
from tasks_app.models.ids import new_id
from tasks_app.models.tasks import Task


class Job(models.Model):
    """Tasks submitted together as the steps of a plan, with a result of their own.

    ``plan`` is as it was checked at the door and never changes. While ``paused`` every unfinished
    task of the job has one hold more; where ``held_to`` is set, only the tasks up to this id have
    followed the last pause or resumption so far. ``cancel_asked``: it ends once what runs has let
    go. On the way back all that completed after ``undone_to``, and ``undone_id`` at that instant,
    has been looked at.
    """

    id = models.UUIDField(primary_key=True, default=new_id)
    name = models.CharField(max_length=200, db_default="")
    key = models.CharField(max_length=200, null=True, unique=True)
    status = models.CharField(
        max_length=12, choices=choices(JobStatus), db_default=JobStatus.RUNNING.value
    )
    plan = models.JSONField()
    paused = models.BooleanField(db_default=False)
    held_to: "models.UUIDField[uuid.UUID | None, uuid.UUID | None]" = models.UUIDField(null=True)
    cancel_asked = models.BooleanField(db_default=False)
    undone_to = models.DateTimeField(null=True)
    undone_id: "models.UUIDField[uuid.UUID | None, uuid.UUID | None]" = models.UUIDField(null=True)
    result = models.JSONField(null=True)
    submitted_by = models.CharField(max_length=150, db_default="")
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "job"
        constraints = [
            models.CheckConstraint(name="job_status_known", condition=one_of("status", JobStatus)),
            models.CheckConstraint(
                name="job_ended_has_its_time",
                condition=Q(status__in=sorted(JOB_FINAL), finished_at__isnull=False)
                | (~Q(status__in=sorted(JOB_FINAL)) & Q(finished_at__isnull=True)),
            ),
        ]
        indexes = [
            models.Index(
                name="job_open",
                fields=["status", "id"],
                condition=~Q(status__in=sorted(JOB_FINAL)),
            ),
            # What has been kept for long enough, the oldest first.
            models.Index(
                name="job_ended",
                fields=["finished_at", "id"],
                condition=Q(finished_at__isnull=False),
            ),
            # Jobs of which not every task has followed a pause; hardly ever more than a few.
            models.Index(
                name="job_pausing", fields=["id"], condition=Q(held_to__isnull=False, paused=True)
            ),
        ]

    def __str__(self) -> str:
        return self.name or str(self.id)


class StepTask(models.Model):
    """What a task is in its job: which step, by its place in the plan, and in which role.

    ``undoes`` is the completed task that a compensation is for; the constraint has each of them
    undone once. An item knows its ``join`` and as what it is ``counted_as`` there: a join's counts
    of its ``items`` follow their ends as these are carried over, so that no look at a job reads
    items.
    """

    task = models.OneToOneField(Task, models.CASCADE, primary_key=True, related_name="step")
    place = models.SmallIntegerField()
    role = models.CharField(max_length=12, choices=choices(Role))
    item = models.IntegerField(null=True)
    undoes = models.OneToOneField(
        Task, models.CASCADE, null=True, related_name="undone_by", db_constraint=True
    )

    job_id: "models.UUIDField[uuid.UUID | None, uuid.UUID | None]" = models.UUIDField(null=True)
    join_id: "models.UUIDField[uuid.UUID | None, uuid.UUID | None]" = models.UUIDField(null=True)
    counted_as = models.CharField(max_length=9, choices=choices(CountedAs), null=True)
    items = models.IntegerField(db_default=0)
    items_completed = models.IntegerField(db_default=0)
    items_open = models.IntegerField(db_default=0)

    class Meta:
        db_table = "step_task"
        constraints = [
            models.CheckConstraint(name="step_task_role_known", condition=one_of("role", Role)),
            models.CheckConstraint(
                name="step_task_undoes_if_compensation",
                condition=Q(role=Role.COMPENSATION, undoes__isnull=False)
                | (~Q(role=Role.COMPENSATION) & Q(undoes__isnull=True)),
            ),
            models.CheckConstraint(
                name="step_task_counted_as_known",
                condition=Q(counted_as__isnull=True) | one_of("counted_as", CountedAs),
            ),
        ]
        indexes = [
            # The steps of a job without the items, and the items of a join.
            models.Index(
                name="step_of_job",
                fields=["job_id", "place"],
                condition=Q(role__in=[Role.STEP, Role.JOIN]),
            ),
            models.Index(
                name="item_of_join", fields=["join_id", "item"], condition=Q(role=Role.ITEM)
            ),
        ]


class JobTurn(models.Model):
    """When a job was last handed something of a kind and priority that it shares with others.

    ``job_id`` is the nil UUID for the tasks that belong to no job.
    """

    pk = models.CompositePrimaryKey("kind_id", "priority", "job_id")
    kind = models.ForeignKey("Kind", models.CASCADE, db_index=False, related_name="+")
    priority = models.SmallIntegerField()
    job_id: "models.UUIDField[uuid.UUID, uuid.UUID]" = models.UUIDField()
    at = models.DateTimeField()

    class Meta:
        db_table = "job_turn"
        indexes = [models.Index(name="job_turn_latest", fields=["kind", "-at"])]


class JobNews(models.Model):
    """A job of which something ended or was asked for: an inbox that the supervisor empties."""

    id = models.BigAutoField(primary_key=True)
    job_id: "models.UUIDField[uuid.UUID, uuid.UUID]" = models.UUIDField()

    class Meta:
        db_table = "job_news"
