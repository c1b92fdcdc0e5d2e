"""One's own account: role, look, time zone, log-ins; and the doors: log-in, password, its reset."""

import hashlib
import threading
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.forms import PasswordResetForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import get_language, ngettext, override
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from tasks_app.services import accounts
from tasks_app.services.payload_masking import may_see_payloads
from tasks_app.services.people import Actor, may_administer, role_of
from tasks_app.services.request_limits import may_ask_reset
from tasks_app.store.reads.sessions import sessions_of
from tasks_app.web.acting import actor_of


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


class LogIn(views.LoginView):
    """The door; each log-in clears expired ones away."""

    template_name = "login.html"
    redirect_authenticated_user = True
    extra_context = {"mails": settings.SENDS_MAIL}

    def form_valid(self, form: Any) -> HttpResponse:
        """Log in."""
        accounts.clear_expired_log_ins()
        return super().form_valid(form)


class ChangePassword(views.PasswordChangeView):
    """A new password for who knows the old one; all other log-ins end."""

    http_method_names = ["get", "head", "post", "options"]
    template_name = "account/password.html"
    success_url = reverse_lazy("web:account")

    def form_valid(self, form: Any) -> HttpResponse:
        """Change and audit it."""
        answer = super().form_valid(form)
        accounts.note_password(actor_of(self.request), "change")
        messages.success(self.request, _("Your password is changed; other log-ins have ended."))
        return answer


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
        address = self.request.META.get("REMOTE_ADDR", "")
        account_hash = hashlib.sha256(form.cleaned_data["email"].casefold().encode()).hexdigest()
        if not may_ask_reset(address, account_hash):
            return redirect(str(self.success_url))
        return super().form_valid(form)


class SetPassword(views.PasswordResetConfirmView):
    """A new password for who has the link, once and within the hour."""

    template_name = "account/set_password.html"
    success_url = reverse_lazy("login")

    def form_valid(self, form: Any) -> HttpResponse:
        """Set and audit it."""
        answer = super().form_valid(form)
        assert self.user is not None, "only a link of somebody's gets here"
        address = self.request.META.get("REMOTE_ADDR", "")
        accounts.note_password(Actor.in_session(self.user, address, None), "reset")
        messages.success(self.request, _("Your password is set: log in with it."))
        return answer


reset_sent = views.PasswordResetDoneView.as_view(template_name="account/reset_sent.html")
