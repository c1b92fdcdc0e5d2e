"""Kinds and the limits that they share."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from tasks_app.admin.bases import (
    KindAdminBase,
    KindFormBase,
    LimitAdminBase,
    LimitFormBase,
)
from tasks_app.admin.changes import Configures, Previewed
from tasks_app.admin.fields import IndentedJSONField, LinesField
from tasks_app.admin.validation import add_faults
from tasks_app.core.dispatch.breakers import SETTINGS as BREAKER
from tasks_app.models import Kind, Limit
from tasks_app.services.settings.settings_checks import check_kind
from tasks_app.store.reads.dispatch.counts import count_by_status


class KindForm(Previewed, KindFormBase):
    """Checks what the database cannot: lists of errors, the schema, the two delays."""

    permanent_errors = LinesField(
        label=_("Permanent errors"),
        required=False,
        help_text=_("Errors never retried, beside the built-in table; one a line."),
    )
    retryable_errors = LinesField(
        label=_("Retryable errors"),
        required=False,
        help_text=_("Errors always retried, whatever the built-in table says; one a line."),
    )
    payload_schema = IndentedJSONField(
        label=_("Payload schema"),
        required=False,
        help_text=_("JSON Schema that a payload must satisfy at the door. Empty: anything."),
    )
    result_schema = IndentedJSONField(
        label=_("Result schema"),
        required=False,
        help_text=_(
            "JSON Schema of what a person writes: the form in the inbox is made from it. A "
            "required boolean “approved” becomes Approve and Reject. Empty: any JSON."
        ),
    )

    searchable_paths = LinesField(
        label=_("Searchable paths"),
        required=False,
        help_text=_("Payload paths with an index, such as payload.customer.id; one a line."),
    )
    redacted_keys = LinesField(
        label=_("Redacted keys"),
        required=False,
        help_text=_(
            "Keys whose values in payloads and results only those with the permission “may see "
            "payloads” are shown, at any depth and in any case; one a line. The values stay hidden "
            "where a job fills them into other tasks. A condition (when) of a job on such a value "
            "tells by the step's status whether it holds."
        ),
    )

    class Meta:
        model = Kind
        fields = "__all__"

    def clean(self) -> dict[str, Any]:
        """Faults between fields."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        add_faults(self, check_kind(data))
        return data


@admin.register(Kind)
class KindAdmin(Configures, KindAdminBase):
    """In force from the supervisor's next round."""

    form = KindForm
    list_display = (
        "name",
        "strategy_in_force",
        "by_people",
        "order",
        "paused",
        "max_attempts",
        "timeout_seconds",
        "estimate_seconds",
        "quarantined_at",
    )
    list_filter = ("strategy", "by_people", "paused")
    search_fields = ("name", "description")
    # A bulk deletion would collect every task of the kinds, only to refuse.
    actions = None
    readonly_fields = ("quarantined_at",)
    fieldsets = (
        (None, {"fields": ("name", "description", "paused", "quarantined_at")}),
        (
            _("Hand-out"),
            {
                "fields": ("strategy", "order", "load", "estimate_seconds", "limit"),
                "description": _("In force from the supervisor's next round."),
            },
        ),
        (
            _("Attempts"),
            {
                "fields": (
                    "timeout_seconds",
                    "max_attempts",
                    "backoff_base_seconds",
                    "backoff_cap_seconds",
                    "backoff_jitter",
                    "retry_budget",
                    "poison_after",
                    "permanent_errors",
                    "retryable_errors",
                ),
                "description": _(
                    "An error is named by its class, bare or dotted (its subclasses follow), "
                    "or as HTTP 409 or HTTP 4xx."
                ),
            },
        ),
        (
            _("Circuit breaker"),
            {"fields": BREAKER},
        ),
        (_("Payload"), {"fields": ("payload_schema", "searchable_paths", "redacted_keys")}),
        (
            _("People"),
            {
                "fields": ("by_people", "person_lease_seconds", "result_schema"),
                "description": _(
                    "Steps that somebody takes from the inbox and completes in a form."
                ),
            },
        ),
    )

    @admin.display(description=_("strategy"), ordering="strategy")
    def strategy_in_force(self, kind: Kind) -> str:
        """The kind's own, or that it follows the settings."""
        return str(kind.get_strategy_display()) if kind.strategy else str(_("the default"))

    def has_delete_permission(self, request: HttpRequest, obj: Kind | None = None) -> bool:
        """A kind that has tasks stays, whatever became of them."""
        allowed = super().has_delete_permission(request, obj)
        return allowed and (obj is None or not any(count_by_status(obj.name).values()))

    def get_readonly_fields(self, request: HttpRequest, obj: Kind | None = None) -> tuple[str, ...]:
        """A kind's name is what tasks refer to: it never changes."""
        return (*self.readonly_fields, "name") if obj else self.readonly_fields


class LimitForm(Previewed, LimitFormBase):
    """What the fields themselves check."""

    class Meta:
        model = Limit
        fields = "__all__"


@admin.register(Limit)
class LimitAdmin(Configures, LimitAdminBase):
    """Caps that kinds share."""

    form = LimitForm

    list_display = ("name", "max_concurrent", "rate_per_second", "burst")
    search_fields = ("name",)
    actions = None
    fieldsets = (
        (None, {"fields": ("name", "description")}),
        (_("Cap"), {"fields": ("max_concurrent", "rate_per_second", "burst")}),
        (
            _("Circuit breaker"),
            {
                "fields": BREAKER,
                "description": _(
                    "Counts the failures of all its kinds; open, it pauses all of them."
                ),
            },
        ),
    )

    def get_readonly_fields(
        self, request: HttpRequest, obj: Limit | None = None
    ) -> tuple[str, ...]:
        """A limit's name is what kinds refer to: it never changes."""
        return ("name",) if obj else ()
