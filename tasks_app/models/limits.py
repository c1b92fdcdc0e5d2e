"""What kinds share or are held back by, and the state of it beside the configuration."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from tasks_app.core.facts import Breaker, Scope
from tasks_app.models.choices import amount, choices, one_of, seconds


def breaker_is_sound(name: str) -> models.CheckConstraint:
    """The constraint that a breaker's settings can open it and close it again."""
    return models.CheckConstraint(
        name=name,
        condition=(Q(breaker_failures__isnull=True) | Q(breaker_failures__gte=1))
        & Q(breaker_window_seconds__gt=0, breaker_open_seconds__gt=0),
    )


class HasBreaker(models.Model):
    """The settings of a circuit breaker: over one kind, or over all kinds of a limit."""

    breaker_failures = models.PositiveIntegerField(
        _("breaker failures"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=_(
            "So many failures within the window open the breaker; a limit's counts those "
            "of all its kinds. Empty: no breaker."
        ),
    )
    breaker_window_seconds = models.FloatField(
        _("breaker window seconds"),
        default=60.0,
        db_default=60.0,
        validators=seconds(0.001),
        help_text=_("The window in which failures are counted, in seconds."),
    )
    breaker_open_seconds = models.FloatField(
        _("breaker open seconds"),
        default=30.0,
        db_default=30.0,
        validators=seconds(0.001),
        help_text=_("How long an open breaker pauses its kinds before one probe, in seconds."),
    )
    breaker_counts_permanent = models.BooleanField(
        _("breaker counts permanent errors"),
        default=False,
        db_default=False,
        help_text=_(
            "Count permanent errors (HTTP 401, 403, a handler's PermanentError) as failures. For "
            "kinds whose permanent errors come from the service that they call, not the payload."
        ),
    )

    class Meta:
        abstract = True


class Limit(HasBreaker):
    """A cap that kinds share: concurrent weight, a rate, or both. Configured by admins."""

    name = models.CharField(_("name"), primary_key=True, max_length=100)
    description = models.CharField(_("description"), max_length=300, blank=True, db_default="")
    max_concurrent = models.FloatField(
        _("max concurrent"),
        null=True,
        blank=True,
        validators=amount(0.001),
        help_text=_("Weight in flight at most; a task weighs 1 unless it says otherwise."),
    )
    rate_per_second = models.FloatField(
        _("rate per second"),
        null=True,
        blank=True,
        validators=amount(0.001),
        help_text=_("Weight handed out a second on average. Empty: no rate."),
    )
    burst = models.FloatField(
        _("burst"),
        default=1.0,
        db_default=1.0,
        validators=amount(0.001),
        help_text=_("Weight that may go out at once after a pause."),
    )

    class Meta:
        verbose_name = _("limit")
        verbose_name_plural = _("limits")
        db_table = "shared_limit"
        ordering = ["name"]
        constraints = [breaker_is_sound("limit_breaker_sound")]

    def __str__(self) -> str:
        return self.name


class LimitState(models.Model):
    """The token buckets of a limit, and until when a 429 paused it; apart from configuration.

    ``tokens`` (at ``at``) is the bucket of what is handed out, ``start_tokens`` (at ``start_at``)
    that of what begins; both are None until something does.
    """

    limit = models.OneToOneField(Limit, models.CASCADE, primary_key=True)
    tokens = models.FloatField()
    at = models.DateTimeField(db_default=Now())
    start_tokens = models.FloatField(null=True)
    start_at = models.DateTimeField(null=True)
    paused_until = models.DateTimeField(null=True)

    class Meta:
        db_table = "limit_state"


class BreakerState(models.Model):
    """Where the breaker of a kind or a limit stands.

    ``probe`` is the one task let through when half-open.
    """

    pk = models.CompositePrimaryKey("scope", "name")
    scope = models.CharField(max_length=10, choices=choices(Scope))
    name = models.CharField(max_length=100)
    state = models.CharField(max_length=10, choices=choices(Breaker))
    since = models.DateTimeField(db_default=Now())
    probe = models.UUIDField(null=True)
    probe_token = models.BigIntegerField(null=True)

    class Meta:
        db_table = "breaker_state"
        constraints = [
            models.CheckConstraint(name="breaker_state_known", condition=one_of("state", Breaker)),
            models.CheckConstraint(name="breaker_scope_known", condition=one_of("scope", Scope)),
        ]


class RetryCredit(models.Model):
    """How many retries a kind with a budget might hand out at an instant; it grows with time."""

    kind = models.OneToOneField("Kind", models.CASCADE, primary_key=True)
    credit = models.FloatField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "retry_credit"
