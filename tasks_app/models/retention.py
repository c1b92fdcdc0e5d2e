"""How long what has ended is kept, and what went."""

from typing import Final

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tasks_app.core.settings.retention import LONGEST_DAYS, Kept
from tasks_app.models.choices import choices, one_of

DAYS: Final = [MinValueValidator(1), MaxValueValidator(LONGEST_DAYS)]


class RetentionSettings(models.Model):
    """Days for which what has ended is kept; one row, empty is for ever."""

    id = models.SmallIntegerField(primary_key=True, default=1, editable=False)
    completed_days = models.PositiveIntegerField(
        _("completed days"),
        null=True,
        blank=True,
        validators=DAYS,
        help_text=_(
            "Completed tasks, with their attempts, logs and effects. What an unfinished or "
            "dead task depends on stays. Once a task has gone its key may be submitted again."
        ),
    )
    closed_days = models.PositiveIntegerField(
        _("closed days"),
        null=True,
        blank=True,
        validators=DAYS,
        help_text=_("Dismissed, cancelled and skipped tasks, likewise."),
    )
    dead_days = models.PositiveIntegerField(
        _("dead days"),
        null=True,
        blank=True,
        validators=DAYS,
        help_text=_(
            "Dead letters that nobody has decided about. Empty is best: what goes can be "
            "neither requeued nor dismissed any more."
        ),
    )
    job_days = models.PositiveIntegerField(
        _("job days"),
        null=True,
        blank=True,
        validators=DAYS,
        help_text=_(
            "Jobs that have ended, with all their tasks: these follow their job and none of "
            "the settings above."
        ),
    )
    history_days = models.PositiveIntegerField(
        _("history days"),
        null=True,
        blank=True,
        validators=DAYS,
        help_text=_(
            "What is on record beside tasks: acts on many tasks that have ended, deaths (by "
            "which "
            "an error is known to have come back), late results and near misses."
        ),
    )

    class Meta:
        db_table = "retention_settings"
        verbose_name = verbose_name_plural = _("retention")
        constraints = [models.CheckConstraint(name="retention_settings_one_row", condition=Q(id=1))]

    def __str__(self) -> str:
        return gettext("Retention")


class Pruned(models.Model):
    """What went in an hour, by what it was; ``seconds`` of work that it took. Kept for a month."""

    pk = models.CompositePrimaryKey("hour", "what")
    hour = models.DateTimeField()
    what = models.CharField(max_length=10, choices=choices(Kept))
    rows = models.BigIntegerField()
    seconds = models.FloatField()

    class Meta:
        db_table = "pruned"
        constraints = [
            models.CheckConstraint(name="pruned_what_known", condition=one_of("what", Kept)),
        ]
