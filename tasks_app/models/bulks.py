"""Acts on many tasks at once: the ids are frozen when a person confirms, then worked through."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.actions.bulks import OPEN, BulkAction, BulkState, ItemState
from tasks_app.models.choices import choices, one_of
from tasks_app.models.ids import new_id


class Bulk(models.Model):
    """One act on many tasks: who wants what done, to how many, and how far it is.

    ``key`` is the form's, so that a form counts once. ``look_at`` is when it is its turn again: the
    end of the hold first. ``place`` is the first item not dealt with; ``ended`` says why it ended.
    ``sent_at``: since when none is left; a canary then watches on, from its place ``watched``.
    """

    id = models.UUIDField(primary_key=True, default=new_id)
    key = models.CharField(max_length=64, unique=True)
    action = models.CharField(max_length=10, choices=choices(BulkAction))
    params = models.JSONField(db_default={})
    canary = models.BooleanField(db_default=False)
    state = models.CharField(
        max_length=10, choices=choices(BulkState), db_default=BulkState.HELD.value
    )
    actor = models.CharField(max_length=150)
    reason = models.TextField(db_default="")
    wanted = models.CharField(max_length=1000, db_default="")
    created_at = models.DateTimeField(db_default=Now())
    begins_at = models.DateTimeField()
    look_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    total = models.IntegerField(db_default=0)
    place = models.IntegerField(db_default=0)
    moved = models.IntegerField(db_default=0)
    watched = models.IntegerField(db_default=0)
    sent_at = models.DateTimeField(null=True)
    ended = models.TextField(db_default="")

    class Meta:
        db_table = "bulk"
        constraints = [
            models.CheckConstraint(
                name="bulk_action_known", condition=one_of("action", BulkAction)
            ),
            models.CheckConstraint(name="bulk_state_known", condition=one_of("state", BulkState)),
            models.CheckConstraint(
                name="bulk_within_itself",
                condition=Q(place__gte=0, place__lte=models.F("total"))
                & Q(moved__gte=0, moved__lte=models.F("place")),
            ),
            models.CheckConstraint(
                name="bulk_open_or_finished",
                condition=Q(state__in=sorted(OPEN), finished_at__isnull=True)
                | (~Q(state__in=sorted(OPEN)) & Q(finished_at__isnull=False)),
            ),
        ]
        indexes = [
            # Whether anything is to be done: empty most of the time.
            models.Index(name="bulk_due", fields=["look_at"], condition=Q(state__in=sorted(OPEN))),
        ]


class BulkItem(models.Model):
    """One task of a bulk as it was when the bulk was confirmed.

    ``requeues`` is the incarnation that is meant: one that was requeued since is left alone.
    """

    pk = models.CompositePrimaryKey("bulk_id", "place")
    # A million rows of one act would each be checked against the same bulk: half the time of it.
    bulk = models.ForeignKey(
        Bulk, models.CASCADE, db_index=False, db_constraint=False, related_name="items"
    )
    place = models.IntegerField()
    task_id = models.UUIDField()
    requeues = models.IntegerField()
    fingerprint = models.CharField(max_length=16, null=True)
    state = models.CharField(
        max_length=10, choices=choices(ItemState), db_default=ItemState.WAITING.value
    )
    why = models.CharField(max_length=200, db_default="")

    class Meta:
        db_table = "bulk_item"
        constraints = [
            models.CheckConstraint(
                name="bulk_item_state_known", condition=one_of("state", ItemState)
            ),
        ]
        indexes = [
            models.Index(name="bulk_item_task", fields=["task_id"]),
            models.Index(
                name="bulk_item_refused",
                fields=["bulk", "place"],
                condition=Q(state=ItemState.REFUSED),
            ),
        ]
