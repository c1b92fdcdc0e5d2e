"""Effects: what handlers do once, and whether it is known to be done."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.attempts.effects import LONGEST_EFFECT_NAME, EffectState
from tasks_app.models.choices import choices, one_of
from tasks_app.models.tasks import Task


class Effect(models.Model):
    """One named effect of a task; a task's id is its idempotency key, so the pair is the key's.

    ``token`` is that of the lease under which it was begun last; ``repeats`` counts how often it
    was begun although an earlier start had no end on record, so each may have been a second time.
    """

    pk = models.CompositePrimaryKey("task_id", "name")
    task = models.ForeignKey(Task, models.CASCADE, db_index=False, related_name="effects")
    name = models.CharField(max_length=LONGEST_EFFECT_NAME)
    state = models.CharField(
        max_length=10, choices=choices(EffectState), db_default=EffectState.STARTED.value
    )
    token = models.BigIntegerField()
    repeats = models.IntegerField(db_default=0)
    result = models.JSONField(null=True)
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "effect"
        constraints = [
            models.CheckConstraint(
                name="effect_state_known", condition=one_of("state", EffectState)
            ),
            models.CheckConstraint(
                name="effect_done_has_its_time",
                condition=Q(state=EffectState.DONE, finished_at__isnull=False)
                | Q(state=EffectState.STARTED, finished_at__isnull=True),
            ),
        ]
