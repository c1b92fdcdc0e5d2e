"""Kinds of work: how they are dispatched, timed and retried. Configured by admins."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from tasks_app.core.facts import Load, Order, StrategyName
from tasks_app.models.choices import amount, choices, one_of, seconds
from tasks_app.models.limits import HasBreaker, breaker_is_sound


class Kind(HasBreaker):
    """One kind of work; workers declare which kinds they can do."""

    name = models.CharField(
        _("name"),
        primary_key=True,
        max_length=100,
        help_text=_("What handlers and submitters call it, such as classify_ticket."),
    )
    description = models.CharField(
        _("description"),
        max_length=300,
        blank=True,
        db_default="",
        help_text=_("One line for operators."),
    )
    strategy = models.CharField(
        _("strategy"),
        max_length=30,
        choices=choices(StrategyName),
        blank=True,
        db_default="",
        help_text=_("How a worker is picked. Empty: the default of the supervisor settings."),
    )
    order = models.CharField(
        _("order"),
        max_length=20,
        choices=choices(Order),
        default=Order.FIFO,
        db_default=Order.FIFO.value,
        help_text=_("Order within a priority: first in first out, or the longest estimate first."),
    )
    load = models.CharField(
        _("load"),
        max_length=10,
        choices=choices(Load),
        default=Load.SECONDS,
        db_default=Load.SECONDS.value,
        help_text=_("What least-loaded compares: estimated seconds of queued work, or a count."),
    )
    paused = models.BooleanField(
        _("paused"),
        default=False,
        db_default=False,
        help_text=_("Nothing of this kind is handed out."),
    )
    estimate_seconds = models.FloatField(
        _("estimate seconds"),
        default=1.0,
        db_default=1.0,
        validators=seconds(0.001),
        help_text=_("Expected run time at skill 1, in seconds; a task may carry its own."),
    )
    timeout_seconds = models.FloatField(
        _("timeout seconds"),
        default=900.0,
        db_default=900.0,
        validators=seconds(0.001),
        help_text=_("An attempt that runs longer is stopped, in seconds."),
    )
    max_attempts = models.PositiveSmallIntegerField(
        _("max attempts"),
        default=3,
        db_default=3,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text=_("Attempts before the task is DEAD; a requeue starts a new count."),
    )
    backoff_base_seconds = models.FloatField(
        _("backoff base seconds"),
        default=2.0,
        db_default=2.0,
        validators=seconds(0.001),
        help_text=_("Delay before the second attempt; doubles with each further one."),
    )
    backoff_cap_seconds = models.FloatField(
        _("backoff cap seconds"),
        default=60.0,
        db_default=60.0,
        validators=seconds(0.001),
        help_text=_("The longest delay between two attempts, in seconds."),
    )
    backoff_jitter = models.FloatField(
        _("backoff jitter"),
        default=0.25,
        db_default=0.25,
        validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
        help_text=_(
            "Share by which a delay varies either way, so that retries do not come at once."
        ),
    )
    poison_after = models.PositiveSmallIntegerField(
        _("poison after"),
        default=3,
        db_default=3,
        validators=[MinValueValidator(1)],
        help_text=_("A task that was running on so many workers as they died is DEAD as poison."),
    )
    permanent_errors = models.JSONField(
        _("permanent errors"),
        default=list,
        blank=True,
        db_default=[],
        help_text=_("Error classes never retried, beside the built-in table: a list of names."),
    )
    retryable_errors = models.JSONField(
        _("retryable errors"),
        default=list,
        blank=True,
        db_default=[],
        help_text=_("Error classes always retried, whatever the built-in table says."),
    )
    limit = models.ForeignKey(
        "Limit",
        models.PROTECT,
        verbose_name=_("limit"),
        db_column="limit_name",
        null=True,
        blank=True,
        related_name="kinds",
        help_text=_("A shared limit that tasks of this kind count against."),
    )
    retry_budget = models.FloatField(
        _("retry budget"),
        null=True,
        blank=True,
        validators=amount(0.0),
        help_text=_("Retries at most this share of first attempts, such as 0.2. Empty: no budget."),
    )
    quarantined_at = models.DateTimeField(
        _("quarantined at"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("Set when its tasks repeatedly took workers down; an operator frees it."),
    )
    quarantine_freed_at = models.DateTimeField(
        _("quarantine freed at"), null=True, blank=True, editable=False
    )
    payload_schema = models.JSONField(
        _("payload schema"),
        null=True,
        blank=True,
        help_text=_("JSON Schema that a payload must satisfy at the door. Empty: anything."),
    )
    by_people = models.BooleanField(
        _("done by people"),
        default=False,
        db_default=False,
        help_text=_("Somebody takes it from the inbox; no worker ever gets it."),
    )
    person_lease_seconds = models.FloatField(
        _("person lease seconds"),
        null=True,
        blank=True,
        validators=seconds(0.001),
        help_text=_(
            "How long a person has it, in seconds, before it goes back to the inbox; they can "
            "extend it. Empty: the default of the supervisor settings."
        ),
    )
    result_schema = models.JSONField(
        _("result schema"),
        null=True,
        blank=True,
        help_text=_(
            "JSON Schema of the result of a kind done by people: its form is made from it."
        ),
    )
    searchable_paths = models.JSONField(
        _("searchable paths"),
        default=list,
        blank=True,
        db_default=[],
        help_text=_("Payload paths with an index of their own, such as payload.customer.id."),
    )
    redacted_keys = models.JSONField(
        _("redacted keys"),
        default=list,
        blank=True,
        db_default=[],
        help_text=_("Keys whose values in payloads and results only some people may see."),
    )
    created_at = models.DateTimeField(_("created at"), db_default=Now(), editable=False)

    class Meta:
        verbose_name = _("kind")
        verbose_name_plural = _("kinds")
        db_table = "kind"
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(name="kind_name_filled", condition=~Q(name="")),
            models.CheckConstraint(
                name="kind_strategy_known",
                condition=one_of("strategy", StrategyName) | Q(strategy=""),
            ),
            models.CheckConstraint(name="kind_order_known", condition=one_of("order", Order)),
            models.CheckConstraint(name="kind_load_known", condition=one_of("load", Load)),
            models.CheckConstraint(
                name="kind_seconds_positive",
                condition=Q(estimate_seconds__gt=0)
                & Q(timeout_seconds__gt=0)
                & Q(backoff_base_seconds__gt=0)
                & Q(backoff_cap_seconds__gt=0),
            ),
            models.CheckConstraint(name="kind_attempts_min", condition=Q(max_attempts__gte=1)),
            breaker_is_sound("kind_breaker_sound"),
            models.CheckConstraint(
                name="kind_person_lease_positive",
                condition=Q(person_lease_seconds__isnull=True) | Q(person_lease_seconds__gt=0),
            ),
            # A claim looks at no limit and no breaker.
            models.CheckConstraint(
                name="kind_people_need_no_limit",
                condition=Q(by_people=False) | Q(limit__isnull=True),
                violation_error_message="A kind done by people has no shared limit.",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class RoundRobinCursor(models.Model):
    """How many tasks of a kind round-robin has handed out; apart, so an admin's save keeps it."""

    kind = models.OneToOneField(Kind, models.CASCADE, primary_key=True)
    position = models.BigIntegerField(db_default=0)

    class Meta:
        db_table = "round_robin_cursor"
