"""The supervisor's own record: settings, the leader lease, and one sample a second."""

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tasks_app.core.dispatch.shifts import ShiftEnd
from tasks_app.core.facts import StrategyName
from tasks_app.models.choices import amount, choices, one_of, seconds


class SupervisorSettings(models.Model):
    """How the supervisor works; one row, in force from the next round."""

    id = models.SmallIntegerField(primary_key=True, default=1, editable=False)
    default_strategy = models.CharField(
        _("default strategy"),
        max_length=30,
        choices=choices(StrategyName),
        default=StrategyName.CAPABLE_LEAST_LOADED,
        db_default=StrategyName.CAPABLE_LEAST_LOADED.value,
        help_text=_("For kinds that name no strategy of their own."),
    )
    backlog = models.FloatField(
        _("backlog"),
        null=True,
        blank=True,
        default=1.0,
        db_default=1.0,
        validators=amount(0.0),
        help_text=_(
            "How far ahead of its slots a worker may be assigned, as a multiple of its slots: "
            "0 = free slots only, 1 = its slots once more, empty = unlimited."
        ),
    )
    tick_seconds = models.FloatField(
        _("tick seconds"),
        default=1.0,
        db_default=1.0,
        validators=seconds(0.05),
        help_text=_("The longest wait between two rounds when nothing happens, in seconds."),
    )
    leader_lease_seconds = models.FloatField(
        _("leader lease seconds"),
        default=10.0,
        db_default=10.0,
        validators=seconds(0.5),
        help_text=_("A leader that shows no sign of life for so long is replaced, in seconds."),
    )
    shift_seconds = models.FloatField(
        _("shift seconds"),
        default=30.0,
        db_default=30.0,
        validators=seconds(1.0),
        help_text=_("How long one run stays on duty before it frees the lease, in seconds."),
    )
    heartbeat_seconds = models.FloatField(
        _("heartbeat seconds"),
        default=10.0,
        db_default=10.0,
        validators=seconds(0.05),
        help_text=_("How often a worker gives a sign of life, in seconds."),
    )
    stale_after_seconds = models.FloatField(
        _("stale after seconds"),
        default=90.0,
        db_default=90.0,
        validators=seconds(0.1),
        help_text=_(
            "A worker silent for longer has lost its leases, in seconds. "
            "Three to five times the 99th percentile of run times is a good value."
        ),
    )
    timeout_grace_seconds = models.FloatField(
        _("timeout grace seconds"),
        default=10.0,
        db_default=10.0,
        validators=seconds(0.0),
        help_text=_(
            "How long past a kind's timeout the supervisor leaves it to the worker to stop "
            "the attempt, in seconds."
        ),
    )
    priority_head_start_seconds = models.FloatField(
        _("priority head start seconds"),
        default=60.0,
        db_default=60.0,
        validators=seconds(0.0),
        help_text=_(
            "What one step of priority is worth in the queue, in seconds; nothing starves."
        ),
    )
    window = models.PositiveIntegerField(
        _("window"),
        default=2000,
        db_default=2000,
        validators=[MinValueValidator(1)],
        help_text=_("How many ready tasks of a kind one round looks at."),
    )
    unroutable_grace_seconds = models.FloatField(
        _("unroutable grace seconds"),
        default=86400.0,
        db_default=86400.0,
        validators=seconds(0.0),
        help_text=_("A ready task that no worker ever could do is DEAD after so long, in seconds."),
    )

    person_lease_seconds = models.FloatField(
        _("person lease seconds"),
        default=1800.0,
        db_default=1800.0,
        validators=seconds(1.0),
        help_text=_(
            "How long a person has a step that they took from the inbox, in seconds; they can "
            "extend it. For kinds that say nothing else."
        ),
    )
    quarantine_after = models.PositiveSmallIntegerField(
        _("quarantine after"),
        default=3,
        db_default=3,
        validators=[MinValueValidator(1)],
        help_text=_("So many poison tasks of a kind within the window quarantine the kind."),
    )
    quarantine_window_seconds = models.FloatField(
        _("quarantine window seconds"),
        default=3600.0,
        db_default=3600.0,
        validators=seconds(1.0),
        help_text=_("The window in which poison tasks are counted, in seconds."),
    )

    class Meta:
        db_table = "supervisor_settings"
        verbose_name = verbose_name_plural = _("supervisor settings")
        constraints = [
            models.CheckConstraint(name="settings_one_row", condition=Q(id=1)),
            models.CheckConstraint(
                name="settings_strategy_known",
                condition=one_of("default_strategy", StrategyName),
            ),
            models.CheckConstraint(
                name="settings_stale_after_heartbeats",
                condition=Q(stale_after_seconds__gt=models.F("heartbeat_seconds")),
                violation_error_message=(
                    "Stale after must be longer than the time between two heartbeats."
                ),
            ),
        ]

    def __str__(self) -> str:
        return gettext("Supervisor settings")


class Leader(models.Model):
    """The leader lease: one row; ``epoch`` is its fencing number and rises at every take-over.

    ``last_round_at`` is what dashboards and ``/readyz`` judge the supervisor by. ``served_since``
    is the first round after the last break in which none was run though they were due. The last
    two are where the latest sample had come to, so that the next leader's goes on from there.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    epoch = models.BigIntegerField(db_default=0)
    holder = models.CharField(max_length=200, db_default="")
    since = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    last_round_at = models.DateTimeField(null=True)
    served_since = models.DateTimeField(null=True)
    sampled_completed = models.BigIntegerField(null=True)
    sampled_busy_seconds = models.FloatField(null=True)

    class Meta:
        db_table = "leader"
        constraints = [models.CheckConstraint(name="leader_one_row", condition=Q(id=1))]


class Shift(models.Model):
    """One leader's time on duty, from its take-over to its end; kept for a week.

    ``silent_seconds``: how long nobody had run a round when it took over. ``rounds`` and
    ``dispatched`` are known once it ended in good order.
    """

    id = models.BigAutoField(primary_key=True)
    epoch = models.BigIntegerField()
    holder = models.CharField(max_length=200)
    began_at = models.DateTimeField(db_index=True)
    silent_seconds = models.FloatField(null=True)
    ended_at = models.DateTimeField(null=True)
    ending = models.CharField(max_length=10, choices=choices(ShiftEnd), null=True)
    rounds = models.IntegerField(null=True)
    dispatched = models.BigIntegerField(null=True)

    class Meta:
        db_table = "shift"
        constraints = [
            models.CheckConstraint(
                name="shift_ending_known",
                condition=Q(ended_at__isnull=True, ending__isnull=True)
                | (Q(ended_at__isnull=False) & one_of("ending", ShiftEnd)),
            ),
        ]
        indexes = [
            models.Index(name="shift_open", fields=["epoch"], condition=Q(ended_at__isnull=True)),
        ]


class Replica(models.Model):
    """Somebody ready to take over as leader, and when it was last heard of."""

    holder = models.CharField(max_length=200, primary_key=True)
    seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "replica"


class Sample(models.Model):
    """One instant's snapshot; ``resolution`` is 1 or 60 seconds.

    ``by_status`` maps status to count, ``active`` worker name to ASSIGNED + RUNNING,
    ``oldest_created_at`` is since when the oldest unfinished task has been ready, which is when it
    was submitted unless it waited for others; its age is computed when read.
    ``dispatched``, ``completed`` and ``busy_seconds`` are totals since the sample before;
    ``dispatch_seconds`` is the length of the rounds that dispatched, so that D = dispatch_seconds /
    dispatched; ``rounds`` counts all rounds, ``lengths`` those of each class of
    ``core.shifts.ROUND_LENGTHS``. ``unplaced`` is what the second's last round could not place:
    kind, why, how many; minutes have none of the two. ``gone``: completed tasks that were pruned
    until then.
    """

    pk = models.CompositePrimaryKey("resolution", "at")
    resolution = models.SmallIntegerField(db_default=1)
    at = models.DateTimeField(db_default=Now())
    by_status = models.JSONField(db_default={})
    active = models.JSONField(db_default={})
    oldest_created_at = models.DateTimeField(null=True)
    rounds = models.IntegerField(db_default=0)
    dispatched = models.IntegerField(db_default=0)
    completed = models.IntegerField(db_default=0)
    busy_seconds = models.FloatField(db_default=0.0)
    dispatch_seconds = models.FloatField(db_default=0.0)
    longest_round_seconds = models.FloatField(db_default=0.0)
    reclaimed = models.IntegerField(db_default=0)
    promoted = models.IntegerField(db_default=0)
    lengths = ArrayField(models.IntegerField(), db_default=[])
    unplaced = models.JSONField(db_default=[])
    gone = models.BigIntegerField(db_default=0)

    class Meta:
        db_table = "sample"
