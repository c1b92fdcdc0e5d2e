"""Which alerts are sent, how often, and where to."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tasks_app.admin.acting import actor_of
from tasks_app.admin.bases import ChannelFormBase, RuleFormBase
from tasks_app.admin.changes import Configures, Previewed
from tasks_app.admin.validation import add_faults
from tasks_app.core.alerts.webhooks import LEAST_SECRET
from tasks_app.models import AlertChannel, AlertRule
from tasks_app.services.alerts.alert_channels import send_test, set_secret
from tasks_app.services.people.people import may_administer
from tasks_app.services.settings.settings_checks import check_channel
from tasks_app.translation import translated


class RuleForm(Previewed, RuleFormBase):
    """What the fields themselves check."""

    class Meta:
        model = AlertRule
        fields = "__all__"


@admin.register(AlertRule)
class AlertRuleAdmin(Configures):
    """One for each alert that there is: neither added nor deleted."""

    form = RuleForm
    list_display = ("name", "sent", "repeat_minutes")
    actions = None
    fields = ("name", "sent", "repeat_minutes")
    readonly_fields = ("name",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Each alert has its rule already."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """An alert is not sent where its rule says so."""
        return False


class ChannelForm(Previewed, ChannelFormBase):
    """A channel; the secret is taken in and never given out."""

    new_secret = forms.CharField(
        label=gettext_lazy("Secret"),
        required=False,
        min_length=LEAST_SECRET,
        max_length=200,
        strip=True,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "off"}),
        help_text=gettext_lazy(
            "Signs each POST of a webhook. It is not shown again; empty leaves the one that it has."
        ),
    )

    class Meta:
        model = AlertChannel
        fields = ("name", "kind", "address", "enabled")

    def clean(self) -> dict[str, Any]:
        """Faults of the address, by the kind."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            add_faults(self, check_channel(data))
        return data


@admin.register(AlertChannel)
class AlertChannelAdmin(Configures):
    """Where alerts are sent to."""

    form = ChannelForm
    change_form_template = "admin/alert_channel_form.html"
    list_display = ("name", "kind", "address", "enabled", "signed")
    search_fields = ("name", "address")
    actions = None
    fields = ("name", "kind", "address", "enabled", "new_secret", "signed")

    @admin.display(boolean=True, description=gettext_lazy("signed"))
    def signed(self, channel: AlertChannel) -> bool:
        """Whether it has a secret."""
        return bool(channel.secret)

    def get_readonly_fields(
        self, request: HttpRequest, obj: AlertChannel | None = None
    ) -> tuple[str, ...]:
        """A channel's name is what its messages refer to: it never changes."""
        return ("name", "signed") if obj else ()

    def get_fields(self, request: HttpRequest, obj: AlertChannel | None = None) -> tuple[str, ...]:
        """A new channel has no secret yet to tell of."""
        return self.fields if obj else self.fields[:-1]

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Write a new secret too, in the same transaction, beside the audit of the rest."""
        super().save_related(request, form, formsets, change)
        if form.cleaned_data["new_secret"]:
            set_secret(form.instance.name, form.cleaned_data["new_secret"], actor_of(request))

    def get_urls(self) -> list[URLPattern]:
        """The address of a test beside Django's own."""
        view = self.admin_site.admin_view(self.test_view)
        name = f"{self.opts.app_label}_{self.opts.model_name}_test"
        return [path("<path:name>/test/", view, name=name), *super().get_urls()]

    def test_view(self, request: HttpRequest, name: str) -> HttpResponse:
        """Send a test to a channel as it is saved, and say what became of it."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not may_administer(request.user):
            raise PermissionDenied
        channel = unquote(name)
        try:
            fault = send_test(channel, actor_of(request))
        except LookupError as error:
            unsent = _("Nothing was sent: %(fault)s.") % {"fault": translated(str(error))}
            self.message_user(request, unsent, messages.ERROR)
            return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
        if fault:
            lost = _("The test did not arrive: %(fault)s.") % {"fault": translated(fault)}
            self.message_user(request, lost, messages.ERROR)
        else:
            self.message_user(request, _("The test was sent."), messages.SUCCESS)
        back = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
        return redirect(back, quote(channel))
