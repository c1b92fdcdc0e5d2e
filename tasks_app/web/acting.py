"""Acts of people on pages: who may, who it was, where to go back to, what to say afterwards."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Concatenate, Final, ParamSpec

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tasks_app.services.people.people import Actor, NotAllowed, User, may_administer, may_operate
from tasks_app.translation import translated
from tasks_app.web.act_words import ActWords, counted

WHY: Final = _("Say in a few words why: the audit keeps it.")
"""What a form says whose reason is missing."""

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def operators_only(view: View[P]) -> View[P]:
    """Answer 403 with a sentence to whoever may only look."""
    return _only(may_operate, _("You may look, not act: this needs the role operator."), view)


def admins_only(view: View[P]) -> View[P]:
    """Answer 403 with a sentence to whoever may not change the configuration."""
    return _only(may_administer, _("To change the configuration needs the role admin."), view)


def _only(may: Callable[[User], bool], refusal: Promise, view: View[P]) -> View[P]:
    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not may(request.user):
            raise NotAllowed(str(refusal))
        return view(request, *args, **kwargs)

    return wrapped


def actor_of(request: HttpRequest) -> Actor:
    """The person behind a request, for the audit."""
    return Actor.in_session(
        request.user,
        request.META.get("REMOTE_ADDR", ""),
        request.session.session_key,
    )


def back_to(request: HttpRequest, default: str) -> str:
    """The page that the form names as ``next``, if it is one of this site."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    safe = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    # Only a path: Django takes another word for the name of a view, and finds none.
    return wanted if safe and wanted.startswith("/") else default


def tell(request: HttpRequest, words: ActWords, count: int, refusals: Iterable[str]) -> None:
    """Say what became of an act: "14 requeued. 1 refused: Its dependency is dismissed."."""
    reasons = Counter(refusals)
    most = reasons.most_common(3)
    said = [counted(words.done, count) if count else str(words.none)]
    said += [
        gettext("%(count)s refused: %(why)s") % {"count": f"{number:,}", "why": translated(reason)}
        for reason, number in most
    ]
    rest = reasons.total() - sum(number for _, number in most)
    if rest:
        others = gettext("%(count)s more refused for other reasons.")
        said.append(others % {"count": f"{rest:,}"})
    level = messages.SUCCESS if count and not reasons else messages.WARNING
    messages.add_message(request, level, " ".join(said))
