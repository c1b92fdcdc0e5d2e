"""API tokens: made here and shown once, rotated with both alive, revoked."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from tasks_app.admin.acting import actor_of
from tasks_app.admin.fields import WholeNumberField
from tasks_app.admin.people import ReadOnlyAdmin
from tasks_app.core.people.scopes import MEANINGS, STANDARD, Scope
from tasks_app.models import ApiToken
from tasks_app.services.people import tokens
from tasks_app.services.people.people import may_administer
from tasks_app.translation import translated


def _scopes() -> list[tuple[str, str]]:
    return [(scope.value, f"{scope.value}: {translated(MEANINGS[scope])}") for scope in Scope]


class LifeForm(forms.Form):
    """How long a token lives."""

    expires_days = WholeNumberField(
        label=_("Days it lives"),
        required=False,
        min_value=1,
        max_value=tokens.LONGEST_LIFE_DAYS,
        help_text=_("Empty: until it is revoked."),
    )


class TokenForm(LifeForm):
    """A new token."""

    field_order = ("name", "scopes", "expires_days")
    name = forms.CharField(
        label=_("Name"),
        max_length=tokens.LONGEST_NAME,
        help_text=_("Who will use it, such as nightly-import."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("It may"),
        choices=_scopes,
        initial=[scope.value for scope in STANDARD],
        widget=forms.CheckboxSelectMultiple,
    )


class RotateForm(LifeForm):
    """A successor, and how long the old token lives on."""

    grace_days = WholeNumberField(
        label=_("Days the old one lives on"),
        initial=tokens.GRACE_DAYS,
        min_value=0,
        max_value=tokens.LONGEST_LIFE_DAYS,
    )


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """Tokens; the secret of one is shown once, on the page that follows its making."""

    list_display = (
        "name",
        "prefix",
        "live",
        "may",
        "created_at",
        "expires_at",
        "last_used_at",
        "revoked_at",
    )
    search_fields = ("name", "prefix")
    exclude = ("digest", "user")
    actions = ("revoke",)
    change_form_template = "admin/token.html"

    @admin.display(boolean=True, description=_("live"))
    def live(self, token: ApiToken) -> bool:
        """Whether a program may still use it."""
        expired = token.expires_at is not None and token.expires_at <= timezone.now()
        return token.revoked_at is None and not expired

    @admin.display(description=_("may"))
    def may(self, token: ApiToken) -> str:
        """Its scopes."""
        return ", ".join(token.scopes)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Admins make tokens."""
        return may_administer(request.user)

    def get_urls(self) -> list[URLPattern]:
        """The address of a rotation beside Django's own."""
        view = self.admin_site.admin_view(self.rotate_view)
        name = "tasks_app_apitoken_rotate"
        return [path("<int:token_id>/rotate/", view, name=name), *super().get_urls()]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Make a token, and show it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = TokenForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            data = form.cleaned_data
            try:
                made = tokens.create(
                    data["name"], actor_of(request), data["expires_days"], data["scopes"]
                )
            except ValueError as error:
                form.add_error(None, translated(str(error)))
            else:
                return self._show(request, made)
        return self._ask(request, form, gettext("New token"), gettext("Make it"))

    def rotate_view(self, request: HttpRequest, token_id: int) -> HttpResponse:
        """Make a successor of a token, and show it."""
        token = ApiToken.objects.filter(pk=token_id).first()
        if token is None:
            raise Http404(gettext("There is no token numbered %(number)s.") % {"number": token_id})
        form = RotateForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            data = form.cleaned_data
            try:
                made, _old = tokens.rotate(
                    token.prefix, actor_of(request), data["expires_days"], data["grace_days"]
                )
            except ValueError as error:
                form.add_error(None, translated(str(error)))
            else:
                return self._show(request, made)
        title = gettext("Rotate %(name)s %(prefix)s") % {"name": token.name, "prefix": token.prefix}
        return self._ask(request, form, title, gettext("Make a successor"))

    def _ask(self, request: HttpRequest, form: forms.Form, title: str, button: str) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "form": form,
            "button": button,
        }
        status = 422 if form.errors else 200
        return TemplateResponse(request, "admin/token_form.html", context, status=status)

    def _show(self, request: HttpRequest, made: tokens.NewToken) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("The token of %(name)s") % {"name": made.name},
            "made": made,
        }
        return TemplateResponse(request, "admin/token_made.html", context)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Admins end tokens."""
        return may_administer(request.user)

    @admin.action(description=_("Revoke the selected tokens…"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> HttpResponse | None:
        """Ask first, then end them at once."""
        chosen = list(queryset.filter(revoked_at=None))
        if "confirmed" not in request.POST:
            context = {
                **self.admin_site.each_context(request),
                "title": gettext("Revoke tokens"),
                "opts": self.opts,
                "tokens": chosen,
            }
            return TemplateResponse(request, "admin/revoke_tokens.html", context)
        actor = actor_of(request)
        ended = sum(tokens.revoke(token.prefix, actor) for token in chosen)
        revoked = ngettext("%(count)s revoked.", "%(count)s revoked.", ended)
        self.message_user(request, revoked % {"count": ended}, messages.SUCCESS)
        return None
