"""One's own account: role, look, time zone, log-ins; and the doors: log-in, password, its reset."""

import hashlib
import logging
import threading
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm, PasswordResetForm
from django.core.validators import MaxLengthValidator
from django.forms import CharField
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import get_language, ngettext, override
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django.views.generic.edit import ProcessFormView

from tasks_app.services.masking.payload_masking import may_see_payloads
from tasks_app.services.people import accounts
from tasks_app.services.people.password_hashing import HashingBusy
from tasks_app.services.people.people import Actor, may_administer, role_of
from tasks_app.services.people.request_limits import (
    Try,
    may_ask_reset,
    try_link,
    try_log_in,
    try_old_password,
)
from tasks_app.store.reads.people.sessions import sessions_of
from tasks_app.web.acting import actor_of
from tasks_app.web.kept import carried_by, given_back

log = logging.getLogger(__name__)

LONGEST_NAME: Final = 150
"""Characters of a log-in name."""


@require_safe
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    """Show who one is, and where else one is logged in."""
    user = request.user
    context = {
        "role": role_of(user).name.lower(),
        "sees_payloads": may_see_payloads(user),
        "may_administer": may_administer(user),
        "log_ins": sessions_of(user.pk or 0),
        "here": request.session.session_key,
    }
    return render(request, "account/account.html", context)


@require_POST
def log_out_elsewhere(request: HttpRequest) -> HttpResponse:
    """End one's other log-ins; websockets notice within half a minute."""
    key = request.session.session_key or ""
    ended = accounts.log_out_elsewhere(request.user.pk or 0, key, actor_of(request))
    said = ngettext("%(count)s other log-in ended.", "%(count)s other log-ins ended.", ended)
    messages.success(request, said % {"count": ended} if ended else _("There was no other."))
    return redirect("web:account")


def address_of(request: HttpRequest) -> str:
    """Where a request comes from, behind the proxies that are trusted."""
    return str(request.META.get("REMOTE_ADDR", ""))


class LogInForm(AuthenticationForm):
    """The log-in's form; a name that no account can have is not looked for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Django sets the bound after the field has made its validators.
        name = self.fields["username"]
        assert isinstance(name, CharField)
        name.validators.append(MaxLengthValidator(name.max_length or LONGEST_NAME))


class Tried(ProcessFormView):
    """A form with a secret in it: each try counts as a wrong one until the secret was right."""

    tried: Try

    def begin(self) -> Try:
        """Count a try, before anything is hashed. Raises TooManyRequests."""
        raise NotImplementedError

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Look at the form; what could not be looked at is no wrong try."""
        self.tried = self.begin()
        try:
            return super().post(request, *args, **kwargs)
        except HashingBusy:
            self.tried.succeeded()
            raise


class LogIn(Tried, views.LoginView):
    """The door; each log-in clears expired ones away."""

    form_class = LogInForm
    template_name = "login.html"
    redirect_authenticated_user = True
    extra_context = {"mails": settings.SENDS_MAIL}

    def begin(self) -> Try:
        """By network: names that nobody has cost a hash too."""
        return try_log_in(address_of(self.request))

    @method_decorator((login_not_required, never_cache))
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Give back what was typed also to whoever has logged in elsewhere meanwhile."""
        kept = carried_by(request) if request.user.is_authenticated else None
        return given_back(request, kept) if kept else super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """With the form that the log-in carries."""
        return super().get_context_data(kept=carried_by(self.request), **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        """Log in, and give back what was typed before."""
        self.tried.succeeded()
        accounts.clear_expired_log_ins()
        kept = carried_by(self.request)
        answer = super().form_valid(form)
        # The log-in has made a token of its own.
        return (
            answer if kept is None else given_back(self.request, carried_by(self.request) or kept)
        )


class LogOut(views.LogoutView):
    """The way out; the browser forgets the pages that it keeps for going back."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """End the log-in."""
        answer = super().post(request, *args, **kwargs)
        answer["Clear-Site-Data"] = '"cache"'
        return answer


class ChangePassword(Tried, views.PasswordChangeView):
    """A new password for who knows the old one; all other log-ins end."""

    http_method_names = ["get", "head", "post", "options"]
    template_name = "account/password.html"
    success_url = reverse_lazy("web:account")

    def begin(self) -> Try:
        """By account: whoever found a browser that is logged in tries from there."""
        return try_old_password(self.request.user.pk or 0)

    def form_valid(self, form: Any) -> HttpResponse:
        """Change and audit it."""
        self.tried.succeeded()
        answer = super().form_valid(form)
        accounts.note_password(actor_of(self.request), "change")
        messages.success(self.request, _("Your password is changed; other log-ins have ended."))
        return answer

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again; a bad new password is no wrong try of the old one."""
        if "old_password" in form.errors:
            who, address = self.request.user.get_username(), address_of(self.request)
            log.warning("a wrong old password of %s from %s", who, address)
        else:
            self.tried.succeeded()
        return super().form_invalid(form)


class MailedLink(PasswordResetForm):
    """Sends the link aside, so that the answer takes as long for an account as for none."""

    def send_mail(self, *args: Any, **kwargs: Any) -> None:
        """Send without waiting; a failure is logged by Django."""
        language, send = get_language(), super().send_mail

        def sent() -> None:
            with override(language):
                send(*args, **kwargs)

        threading.Thread(target=sent).start()


class AskReset(views.PasswordResetView):
    """A signed link by e-mail; the answer is the same whether or not there is such an account."""

    form_class = MailedLink
    template_name = "account/reset.html"
    email_template_name = "account/reset_mail.txt"
    subject_template_name = "account/reset_subject.txt"
    success_url = reverse_lazy("web:reset_sent")
    extra_context = {"mails": settings.SENDS_MAIL}

    def form_valid(self, form: Any) -> HttpResponse:
        """Send it, unless somebody asks for too many."""
        account_hash = hashlib.sha256(form.cleaned_data["email"].casefold().encode()).hexdigest()
        if not may_ask_reset(address_of(self.request), account_hash):
            return redirect(str(self.success_url))
        protocol, domain = origin_of_links(self.request)
        self.extra_email_context = {"protocol": protocol, "domain": domain}
        return super().form_valid(form)


def origin_of_links(request: HttpRequest) -> tuple[str, str]:
    """The scheme and host that mailed links lead to: PUBLIC_URL's, which no request can change.

    Locally it may be unset: then the host name is one that is allowed, and the port this process's.
    """
    if settings.PUBLIC_URL:
        parts = urlsplit(settings.PUBLIC_URL)
        return parts.scheme, parts.netloc
    scheme = request.scheme or "http"
    host, _port = split_domain_port(request.get_host())
    port = request.META["SERVER_PORT"]
    usual = {"http": "80", "https": "443"}[scheme]
    return scheme, host if port == usual else f"{host}:{port}"


@method_decorator(login_not_required, name="dispatch")
class SetPassword(views.PasswordResetConfirmView):
    """A new password for who has the link, once and within the hour."""

    template_name = "account/set_password.html"
    success_url = reverse_lazy("login")

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Count forms whose link does not work, before anything is hashed.

        Raises TooManyRequests.
        """
        tried = try_link(address_of(self.request)) if self.request.method == "POST" else None
        answer = super().dispatch(*args, **kwargs)
        if tried is not None and self.validlink:
            tried.succeeded()
        return answer

    def form_valid(self, form: Any) -> HttpResponse:
        """Set and audit it."""
        answer = super().form_valid(form)
        assert self.user is not None, "only a link of somebody's gets here"
        actor = Actor.in_session(self.user, address_of(self.request), None)
        accounts.note_password(actor, "reset")
        messages.success(self.request, _("Your password is set: log in with it."))
        return answer


reset_sent = views.PasswordResetDoneView.as_view(template_name="account/reset_sent.html")
