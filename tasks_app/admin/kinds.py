"""Kinds and the limits that they share."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from tasks_app.admin.bases import KindAdminBase, KindFormBase, LimitAdminBase
from tasks_app.admin.validation import check_names, check_schema
from tasks_app.core.errors import validate_error_entries
from tasks_app.models import Kind, Limit


class KindForm(KindFormBase):
    """Checks what the database cannot: lists of errors, the schema, the two delays."""

    class Meta:
        model = Kind
        fields = "__all__"

    def clean_permanent_errors(self) -> Any:
        """A list of names."""
        return check_names(self.cleaned_data["permanent_errors"])

    def clean_retryable_errors(self) -> Any:
        """A list of names."""
        return check_names(self.cleaned_data["retryable_errors"])

    def clean_payload_schema(self) -> Any:
        """A JSON Schema, or nothing."""
        schema = self.cleaned_data["payload_schema"]
        check_schema(schema)
        return schema

    def clean(self) -> dict[str, Any]:
        """Faults between fields."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        lists = [data.get(name, []) for name in ("permanent_errors", "retryable_errors")]
        for fault in validate_error_entries(*lists):
            self.add_error(fault.place.split("[")[0], str(fault))
        base, cap = data.get("backoff_base_seconds"), data.get("backoff_cap_seconds")
        if base is not None and cap is not None and base > cap:
            self.add_error(
                "backoff_cap_seconds",
                f"The cap of {cap:g} s is below the first delay of {base:g} s: raise it.",
            )
        return data


@admin.register(Kind)
class KindAdmin(KindAdminBase):
    """In force from the supervisor's next round."""

    form = KindForm
    list_display = (
        "name",
        "strategy",
        "order",
        "paused",
        "max_attempts",
        "timeout_seconds",
        "estimate_seconds",
        "quarantined_at",
    )
    list_filter = ("strategy", "paused")
    search_fields = ("name", "description")
    readonly_fields = ("quarantined_at",)
    fieldsets = (
        (None, {"fields": ("name", "description", "paused", "quarantined_at")}),
        (
            "Hand-out",
            {
                "fields": ("strategy", "order", "load", "estimate_seconds", "limit"),
                "description": "In force from the supervisor's next round.",
            },
        ),
        (
            "Attempts",
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
                "description": (
                    "An error is named by its class, bare or dotted (its subclasses follow), "
                    "or as HTTP 409 or HTTP 4xx."
                ),
            },
        ),
        (
            "Circuit breaker",
            {"fields": ("breaker_failures", "breaker_window_seconds", "breaker_open_seconds")},
        ),
        ("Payload", {"fields": ("payload_schema",)}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Kind | None = None) -> tuple[str, ...]:
        """A kind's name is what tasks refer to: it never changes."""
        return (*self.readonly_fields, "name") if obj else self.readonly_fields


@admin.register(Limit)
class LimitAdmin(LimitAdminBase):
    """Caps that kinds share."""

    list_display = ("name", "max_concurrent", "rate_per_second", "burst")
    search_fields = ("name",)

    def get_readonly_fields(
        self, request: HttpRequest, obj: Limit | None = None
    ) -> tuple[str, ...]:
        """A limit's name is what kinds refer to: it never changes."""
        return ("name",) if obj else ()
