"""Dependencies between tasks, and the inbox by which the end of one reaches the others."""

import uuid

from django.db import models
from django.db.models import F, Func, Q

from tasks_app.core.states import EdgeState, OnDead
from tasks_app.models.choices import choices, one_of
from tasks_app.models.tasks import Task


class Dependency(models.Model):
    """An edge: ``task`` needs ``depends_on``, whose result reaches its worker as input ``name``."""

    pk = models.CompositePrimaryKey("task_id", "depends_on_id")
    task = models.ForeignKey(Task, models.CASCADE, db_index=False, related_name="dependencies")
    depends_on = models.ForeignKey(Task, models.CASCADE, db_index=False, related_name="dependents")
    name = models.CharField(max_length=100)
    on_dead = models.CharField(max_length=10, choices=choices(OnDead), db_default=OnDead.WAIT)
    state = models.CharField(max_length=10, choices=choices(EdgeState))

    class Meta:
        db_table = "dependency"
        constraints = [
            models.CheckConstraint(
                name="dependency_not_itself", condition=~Q(task=F("depends_on"))
            ),
            models.CheckConstraint(
                name="dependency_on_dead_known", condition=one_of("on_dead", OnDead)
            ),
            models.CheckConstraint(
                name="dependency_state_known", condition=one_of("state", EdgeState)
            ),
            models.UniqueConstraint(name="dependency_name_once", fields=["task", "name"]),
        ]
        indexes = [
            # The dependents of a task in the order in which settling goes through them. As bytes,
            # which sort like the id: were the id itself a column here, a planner that takes the
            # table for empty would read the whole index to find the dependencies of one task.
            models.Index(
                F("depends_on"), Func(F("task"), function="uuid_send"), name="dependency_of"
            ),
        ]


class Settled(models.Model):
    """A task whose end concerns others, or its job, or that was requeued: each round's inbox.

    The edges of its dependents are judged, or with ``own`` those to what it depends on itself;
    ``only`` names a single dependent. Edges up to ``after``, in the order of the ids at their other
    end, have been judged already.
    """

    id = models.BigAutoField(primary_key=True)
    task_id = models.UUIDField()
    own = models.BooleanField(db_default=False)
    only_id: "models.UUIDField[uuid.UUID | None, uuid.UUID | None]" = models.UUIDField(null=True)
    after_id: "models.UUIDField[uuid.UUID | None, uuid.UUID | None]" = models.UUIDField(null=True)

    class Meta:
        db_table = "settled"
