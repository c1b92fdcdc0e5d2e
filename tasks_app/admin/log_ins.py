"""Log-ins and wrong passwords on record: never deleted; the end of a lock-out is audited."""

from typing import Any

from axes.models import AccessAttempt, AccessLog
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from tasks_app.admin.acting import actor_of
from tasks_app.admin.people import ReadOnlyAdmin
from tasks_app.services.people import accounts
from tasks_app.services.people.people import may_administer


@admin.register(AccessLog)
class LogInAdmin(ReadOnlyAdmin):
    """Who logged in, from where, until when; most recent first."""

    list_display = ("attempt_time", "username", "ip_address", "user_agent", "logout_time")
    list_filter = ("attempt_time",)
    search_fields = ("username", "ip_address", "user_agent")
    exclude = ("session_hash",)
    show_full_result_count = False


@admin.register(AccessAttempt)
class WrongPasswordsAdmin(ReadOnlyAdmin):
    """Wrong passwords of the last minutes by name and network."""

    list_display = ("attempt_time", "username", "ip_address", "failures_since_start", "user_agent")
    list_filter = ("attempt_time",)
    search_fields = ("username", "ip_address", "user_agent")
    exclude = ("get_data", "post_data")
    actions = ("unlock",)
    show_full_result_count = False

    def has_unlock_permission(self, request: HttpRequest) -> bool:
        """Admins end lock-outs."""
        return may_administer(request.user)

    @admin.action(description=_("End the lock-out of the selected log-ins"), permissions=["unlock"])
    def unlock(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """End them at once; the audit keeps what was counted."""
        ended = accounts.unlock(list(queryset.values_list("pk", flat=True)), actor_of(request))
        said = ngettext("%(count)s lock-out ended.", "%(count)s lock-outs ended.", ended)
        self.message_user(request, said % {"count": ended}, messages.SUCCESS)
