"""API tokens and the audit: shown, never edited here."""

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from tasks_app.admin.bases import RecordAdminBase
from tasks_app.models import ApiToken, AuditEntry
from tasks_app.services import tokens
from tasks_app.services.people import Actor


class ReadOnlyAdmin(RecordAdminBase):
    """Lists and shows; nothing is added, changed or deleted."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Made elsewhere."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never edited."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never deleted."""
        return False


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """Tokens are made with ``manage.py token create``, which shows the secret once."""

    list_display = ("name", "prefix", "created_at", "expires_at", "last_used_at", "revoked_at")
    search_fields = ("name", "prefix")
    exclude = ("digest",)
    actions = ("revoke",)

    @admin.action(description="Revoke the selected tokens", permissions=["view"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        """End tokens at once; only for those who may delete them."""
        if not request.user.has_perm("tasks_app.delete_apitoken"):
            self.message_user(request, "You may not revoke tokens.", messages.ERROR)
            return
        actor = Actor(request.user.get_username(), request.META.get("REMOTE_ADDR", ""))
        prefixes = queryset.values_list("prefix", flat=True)
        ended = sum(tokens.revoke(prefix, actor) for prefix in prefixes)
        self.message_user(request, f"Revoked {ended} token(s).")


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """What people did, newest first."""

    list_display = ("at", "actor", "action", "subject", "count", "reason", "address")
    list_filter = ("action",)
    search_fields = ("actor", "subject", "reason")
    show_full_result_count = False
