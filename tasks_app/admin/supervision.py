"""The supervisor's settings: one row."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from tasks_app.admin.bases import AlertsFormBase, RetentionFormBase, SettingsFormBase
from tasks_app.admin.changes import Configures, Previewed
from tasks_app.admin.validation import add_faults
from tasks_app.models import AlertSettings, RetentionSettings, SupervisorSettings
from tasks_app.services.settings.settings_checks import check_supervisor


class SettingsForm(Previewed, SettingsFormBase):
    """Checks what one field alone cannot know."""

    class Meta:
        model = SupervisorSettings
        fields = "__all__"

    def clean(self) -> dict[str, Any]:
        """Faults between fields."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            add_faults(self, check_supervisor(data))
        return data


class OneRow(Configures):
    """Settings of which there is always exactly one row."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """There is one already."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """The supervisor cannot do without."""
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """A list of one is skipped."""
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", 1)


@admin.register(SupervisorSettings)
class SupervisorSettingsAdmin(OneRow):
    """Neither added nor deleted: there is always exactly one."""

    form = SettingsForm
    fieldsets = (
        (
            _("Hand-out"),
            {
                "fields": ("default_strategy", "backlog", "priority_head_start_seconds", "window"),
                "description": _("In force from the supervisor's next round."),
            },
        ),
        (
            _("Signs of life"),
            {
                "fields": ("heartbeat_seconds", "stale_after_seconds", "timeout_grace_seconds"),
                "description": _("A worker takes a new rhythm when it next registers."),
            },
        ),
        (_("People"), {"fields": ("person_lease_seconds",)}),
        (_("Duty"), {"fields": ("tick_seconds", "leader_lease_seconds", "shift_seconds")}),
        (
            _("Giving up"),
            {
                "fields": (
                    "unroutable_grace_seconds",
                    "quarantine_after",
                    "quarantine_window_seconds",
                )
            },
        ),
    )


class AlertsForm(Previewed, AlertsFormBase):
    """What the fields themselves check."""

    class Meta:
        model = AlertSettings
        fields = "__all__"


@admin.register(AlertSettings)
class AlertSettingsAdmin(OneRow):
    """From where on the overview's alerts stand."""

    form = AlertsForm
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "dead_at_least",
                    "oldest_seconds",
                    "pinned_seconds",
                    "snapshot_seconds",
                ),
                "description": _("In force at once."),
            },
        ),
    )


class RetentionForm(Previewed, RetentionFormBase):
    """What the fields themselves check."""

    class Meta:
        model = RetentionSettings
        fields = "__all__"


@admin.register(RetentionSettings)
class RetentionSettingsAdmin(OneRow):
    """How long what has ended is kept."""

    form = RetentionForm
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "completed_days",
                    "closed_days",
                    "dead_days",
                    "job_days",
                    "history_days",
                ),
                "description": _(
                    "In days; empty is for ever. What is older goes within a minute, the oldest "
                    "first, and does not come back: ask for a preview before you save. The audit "
                    "is kept for ever."
                ),
            },
        ),
    )
