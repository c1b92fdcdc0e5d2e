"""The admin's site: open to the role admin, whether or not Django calls its member staff."""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from controlplane.admin_lookups import ShownLookups
from tasks_app.services.people.people import may_administer


class RoleAdminSite(AdminSite):
    """One log-in for all pages, and one question for all of the admin's."""

    def register(
        self,
        model_or_iterable: type[Model] | Iterable[type[Model]],
        admin_class: "type[ModelAdmin[Any]] | None" = None,
        **options: Any,
    ) -> None:
        """Register a class, of another app too, that answers no look-up but those that it shows."""
        inner = admin_class or ModelAdmin
        guarded = type(inner.__name__, (ShownLookups, inner), {"__module__": inner.__module__})
        super().register(model_or_iterable, guarded, **options)

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Django's own, without the address that leads on to an object's page: none has one."""
        return [each for each in super().get_urls() if getattr(each, "name", "") != "view_on_site"]

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether the user is an admin; to anybody else who is logged in the answer is 403."""
        allowed = may_administer(request.user)
        if request.user.is_authenticated and not allowed:
            raise PermissionDenied("The configuration needs the role admin.")
        return allowed

    @method_decorator((never_cache, login_not_required))
    def login(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Lead to the site's own log-in."""
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"))
