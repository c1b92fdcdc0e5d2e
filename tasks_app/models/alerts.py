"""From where on the overview's alerts stand."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q


class AlertSettings(models.Model):
    """The thresholds of alerts; one row, in force at once."""

    id = models.SmallIntegerField(primary_key=True, default=1, editable=False)
    dead_at_least = models.PositiveIntegerField(
        default=1,
        db_default=1,
        validators=[MinValueValidator(1)],
        help_text="So many dead letters are an alert.",
    )
    oldest_seconds = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.0)],
        help_text=(
            "The oldest unfinished task may wait for so long before it is an alert, in seconds. "
            "Empty: for ever."
        ),
    )
    pinned_seconds = models.FloatField(
        default=0.0,
        db_default=0.0,
        validators=[MinValueValidator(0.0)],
        help_text=(
            "A worker with so much queued work while its peers are idle is an alert, in seconds."
        ),
    )
    snapshot_seconds = models.FloatField(
        default=60.0,
        db_default=60.0,
        validators=[MinValueValidator(1.0)],
        help_text=(
            "A transaction that is open for so long is an alert, in seconds: PostgreSQL cannot "
            "clean up behind the queue meanwhile."
        ),
    )

    class Meta:
        db_table = "alert_settings"
        verbose_name = verbose_name_plural = "alert thresholds"
        constraints = [models.CheckConstraint(name="alert_settings_one_row", condition=Q(id=1))]

    def __str__(self) -> str:
        return "Alert thresholds"
