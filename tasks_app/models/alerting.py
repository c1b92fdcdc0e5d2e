"""Who is told of alerts, which stand, and the messages on their way."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from tasks_app.core.alerts.notification import (
    KEPT_DAYS,
    AlertName,
    ChannelKind,
    DeliveryState,
    Event,
)
from tasks_app.models.choices import choices, one_of
from tasks_app.models.ids import new_id


class AlertRule(models.Model):
    """Whether one kind of alert is sent, and how often at most; one row each."""

    name = models.CharField(_("name"), max_length=20, primary_key=True, choices=choices(AlertName))
    sent = models.BooleanField(
        _("sent"), default=True, db_default=True, help_text=_("Whether it is sent to the channels.")
    )
    repeat_minutes = models.FloatField(
        _("repeat minutes"),
        default=60.0,
        db_default=60.0,
        validators=[MinValueValidator(0.0), MaxValueValidator(KEPT_DAYS * 24 * 60.0)],
        help_text=_(
            "If it ends and begins again, about the same worker, kind or error, it is not sent "
            "anew for so long, in minutes."
        ),
    )

    class Meta:
        verbose_name = _("alert rule")
        verbose_name_plural = _("alert rules")
        db_table = "alert_rule"
        constraints = [
            models.CheckConstraint(
                name="alert_rule_name_known",
                condition=one_of("name", AlertName),
                violation_error_message=f"There are only {', '.join(AlertName)}.",
            ),
        ]

    def __str__(self) -> str:
        return self.get_name_display()


class AlertChannel(models.Model):
    """Where alerts are sent to. The secret is written by its own statement and never shown."""

    name = models.CharField(_("name"), max_length=100, primary_key=True)
    kind = models.CharField(
        _("kind"),
        max_length=10,
        choices=choices(ChannelKind),
        default=ChannelKind.MAIL,
        help_text=_("Mail, or a webhook: a POST of JSON."),
    )
    address = models.CharField(
        _("address"),
        max_length=500,
        help_text=_(
            "Mail addresses with commas between them, or the https address of the webhook. The "
            "audit keeps it: what is secret belongs into the secret below."
        ),
    )
    enabled = models.BooleanField(_("enabled"), default=True, db_default=True)
    secret = models.CharField(_("secret"), max_length=200, db_default="", editable=False)

    class Meta:
        verbose_name = _("alert channel")
        verbose_name_plural = _("alert channels")
        db_table = "alert_channel"
        constraints = [
            models.CheckConstraint(
                name="alert_channel_kind_known", condition=one_of("kind", ChannelKind)
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AlertState(models.Model):
    """What is known of one alert, as ``core.alerting.Standing`` has it; ended ones for a while."""

    key = models.CharField(max_length=200, primary_key=True)
    name = models.CharField(max_length=20, choices=choices(AlertName))
    began_at = models.DateTimeField()
    told = models.BooleanField(db_default=False)
    sent_at = models.DateTimeField(null=True)
    missing_since = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    title = models.CharField(max_length=300, db_default="")

    class Meta:
        db_table = "alert_state"


class AlertDelivery(models.Model):
    """One message to one channel: written when an alert begins or ends, sent afterwards.

    ``began_at`` is the alert's; with channel, key and event it is there once.
    """

    id = models.UUIDField(primary_key=True, default=new_id)
    channel = models.ForeignKey(AlertChannel, models.CASCADE, db_index=False, related_name="+")
    key = models.CharField(max_length=200)
    event = models.CharField(max_length=10, choices=choices(Event))
    began_at = models.DateTimeField()
    body = models.JSONField()
    state = models.CharField(
        max_length=10, choices=choices(DeliveryState), db_default=DeliveryState.WAITING.value
    )
    tries = models.SmallIntegerField(db_default=0)
    fault = models.CharField(max_length=300, db_default="")
    created_at = models.DateTimeField(db_default=Now())
    next_try_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "alert_delivery"
        constraints = [
            models.CheckConstraint(
                name="alert_delivery_state_known", condition=one_of("state", DeliveryState)
            ),
            models.UniqueConstraint(
                name="alert_delivery_once", fields=["channel", "key", "event", "began_at"]
            ),
        ]
        indexes = [
            models.Index(
                name="alert_delivery_due",
                fields=["next_try_at"],
                condition=Q(state=DeliveryState.WAITING),
            ),
            models.Index(name="alert_delivery_newest", fields=["channel", "-created_at"]),
        ]
