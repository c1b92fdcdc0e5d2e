"""API tokens and the audit: shown, never edited here."""

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from tasks_app.admin.acting import actor_of
from tasks_app.admin.bases import RecordAdminBase
from tasks_app.models import ApiToken, AuditEntry
from tasks_app.services import tokens


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

    list_display = (
        "name",
        "prefix",
        "live",
        "created_at",
        "expires_at",
        "last_used_at",
        "revoked_at",
    )
    search_fields = ("name", "prefix")
    exclude = ("digest",)
    actions = ("revoke",)

    @admin.display(boolean=True)
    def live(self, token: ApiToken) -> bool:
        """Whether a program may still use it."""
        expired = token.expires_at is not None and token.expires_at <= timezone.now()
        return token.revoked_at is None and not expired

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Whoever may delete tokens may end them."""
        return bool(request.user.has_perm("tasks_app.delete_apitoken"))

    @admin.action(description="Revoke the selected tokens…", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> HttpResponse | None:
        """Ask first, then end them at once."""
        chosen = list(queryset.filter(revoked_at=None))
        if "confirmed" not in request.POST:
            context = {
                **self.admin_site.each_context(request),
                "title": "Revoke tokens",
                "opts": self.opts,
                "tokens": chosen,
            }
            return TemplateResponse(request, "admin/revoke_tokens.html", context)
        actor = actor_of(request)
        ended = sum(tokens.revoke(token.prefix, actor) for token in chosen)
        self.message_user(request, f"{ended} revoked.", messages.SUCCESS)
        return None


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """What people did, newest first."""

    list_display = ("at", "actor", "action", "subject", "count", "reason", "address")
    list_filter = ("action",)
    search_fields = ("actor", "subject", "reason")
    show_full_result_count = False
