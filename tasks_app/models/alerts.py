"""From where on the overview's alerts stand."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class AlertSettings(models.Model):
    """The thresholds of alerts; one row, in force at once."""

    id = models.SmallIntegerField(primary_key=True, default=1, editable=False)
    dead_at_least = models.PositiveIntegerField(
        _("dead at least"),
        default=1,
        db_default=1,
        validators=[MinValueValidator(1)],
        help_text=_("So many dead letters are an alert."),
    )
    oldest_seconds = models.FloatField(
        _("oldest seconds"),
        null=True,
        blank=True,
        validators=[MinValueValidator(0.0)],
        help_text=_(
            "The oldest unfinished task may wait for so long before it is an alert, in "
            "seconds. "
            "Empty: for ever."
        ),
    )
    pinned_seconds = models.FloatField(
        _("pinned seconds"),
        default=0.0,
        db_default=0.0,
        validators=[MinValueValidator(0.0)],
        help_text=(
            _("A worker with so much queued work while its peers are idle is an alert, in seconds.")
        ),
    )
    snapshot_seconds = models.FloatField(
        _("snapshot seconds"),
        default=60.0,
        db_default=60.0,
        validators=[MinValueValidator(1.0)],
        help_text=_(
            "A transaction that is open for so long is an alert, in seconds: PostgreSQL cannot "
            "clean up behind the queue meanwhile."
        ),
    )

    class Meta:
        db_table = "alert_settings"
        verbose_name = verbose_name_plural = _("alert thresholds")
        constraints = [models.CheckConstraint(name="alert_settings_one_row", condition=Q(id=1))]

    def __str__(self) -> str:
        return gettext("Alert thresholds")
