"""The supervisor's settings: one row."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from tasks_app.admin.bases import SettingsAdminBase, SettingsFormBase
from tasks_app.admin.changes import AuditsChanges
from tasks_app.admin.validation import add_faults
from tasks_app.core.configuration import supervisor_faults
from tasks_app.models import SupervisorSettings


class SettingsForm(SettingsFormBase):
    """Checks what one field alone cannot know."""

    class Meta:
        model = SupervisorSettings
        fields = "__all__"

    def clean(self) -> dict[str, Any]:
        """Faults between fields."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            faults = supervisor_faults(
                tick=data["tick_seconds"],
                leader_lease=data["leader_lease_seconds"],
                heartbeat=data["heartbeat_seconds"],
                stale_after=data["stale_after_seconds"],
                freeze_limit=settings.LEADER_LEASE_SECONDS / 2,
            )
            add_faults(self, faults)
        return data


@admin.register(SupervisorSettings)
class SupervisorSettingsAdmin(AuditsChanges, SettingsAdminBase):
    """Neither added nor deleted: there is always exactly one."""

    form = SettingsForm
    fieldsets = (
        (
            "Hand-out",
            {
                "fields": ("default_strategy", "backlog", "priority_head_start_seconds", "window"),
                "description": "In force from the supervisor's next round.",
            },
        ),
        (
            "Signs of life",
            {
                "fields": ("heartbeat_seconds", "stale_after_seconds", "timeout_grace_seconds"),
                "description": "A worker takes a new rhythm when it next registers.",
            },
        ),
        ("People", {"fields": ("person_lease_seconds",)}),
        ("Duty", {"fields": ("tick_seconds", "leader_lease_seconds", "shift_seconds")}),
        (
            "Giving up",
            {
                "fields": (
                    "unroutable_grace_seconds",
                    "quarantine_after",
                    "quarantine_window_seconds",
                )
            },
        ),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """There is one already."""
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: SupervisorSettings | None = None
    ) -> bool:
        """The supervisor cannot do without."""
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """A list of one is skipped."""
        return redirect("admin:tasks_app_supervisorsettings_change", 1)
