"""Kinds: what waits, what holds one back; pause, resume, quarantine, free and switch one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from tasks_app.core.facts import StrategyName
from tasks_app.services.actions import kind_holds
from tasks_app.services.actions.kind_strategy import preview_switch, switch_strategy
from tasks_app.services.people.people import Actor, may_administer, may_operate
from tasks_app.store.reads.actions.kind_holds import page_of_kinds
from tasks_app.store.reads.dispatch.kind_times import kind_times
from tasks_app.web.acting import actor_of, admins_only, back_to, operators_only
from tasks_app.web.filters import read_text

REMEDY = StrategyName.CAPABLE_LEAST_LOADED
"""What looks at both what workers can do and how much they hold."""


@dataclass(frozen=True, slots=True)
class KindAct:
    """An act, and what is said when it was done and when nothing changed."""

    call: Callable[[str, Actor, str], bool]
    done: Promise
    nothing: Promise


ACTS: Final = {
    "pause": KindAct(
        kind_holds.pause_kind,
        _("%(kind)s: paused. No task of this kind begins; tasks that have begun go on."),
        _("%(kind)s: nothing changed, it is paused already."),
    ),
    "resume": KindAct(
        kind_holds.resume_kind,
        _("%(kind)s: it is handed out again."),
        _("%(kind)s: nothing changed, it was not paused."),
    ),
    "quarantine": KindAct(
        kind_holds.quarantine_kind,
        _("%(kind)s: in quarantine. Nothing more of it is handed out until somebody frees it."),
        _("%(kind)s: nothing changed, it is in quarantine already."),
    ),
    "free": KindAct(
        kind_holds.free_kind,
        _("%(kind)s: its quarantine is over."),
        _("%(kind)s: nothing changed, there was none."),
    ),
}


@require_safe
@never_cache
def kinds(request: HttpRequest) -> HttpResponse:
    """Show the page, or only its table when htmx asks again."""
    after = read_text(request.GET, "after")
    found, following = page_of_kinds(after)
    context = {
        "kinds": found,
        "after": after,
        "following": following,
        "may_operate": may_operate(request.user),
        "may_administer": may_administer(request.user),
    }
    part = "table" if request.headers.get("HX-Request") else "kinds"
    return render(request, f"kinds/{part}.html", context)


@require_safe
@never_cache
def times(request: HttpRequest) -> HttpResponse:
    """Show how long tasks of each kind wait and run; the page of kinds asks for the table alone."""
    part = "times_table" if request.headers.get("HX-Request") else "times"
    return render(request, f"kinds/{part}.html", {"times": kind_times()})


@require_POST
@operators_only
def act(request: HttpRequest, name: str) -> HttpResponse:
    """Do one act to the kind that the form names."""
    wanted = ACTS[name]
    kind = read_text(request.POST, "kind")
    changed = wanted.call(kind, actor_of(request), read_text(request.POST, "reason"))
    if changed:
        messages.success(request, str(wanted.done) % {"kind": kind})
    else:
        messages.warning(request, str(wanted.nothing) % {"kind": kind})
    return redirect(back_to(request, reverse("web:kinds")))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@admins_only
def switch(request: HttpRequest) -> HttpResponse:
    """Show what a switch to the default strategy would do to a kind (GET), or do it (POST)."""
    given = request.POST if request.method == "POST" else request.GET
    kind, home = read_text(given, "kind"), reverse("web:overview")
    said = preview_switch(kind, REMEDY)
    if said is None:
        raise Http404(gettext("There is no kind %(kind)s.") % {"kind": kind})
    if request.method == "POST":
        because = read_text(given, "because")
        if switch_strategy(kind, REMEDY, actor_of(request), because):
            done = gettext("%(kind)s is handed out by %(strategy)s from now on.")
            messages.success(request, done % {"kind": kind, "strategy": _words(REMEDY)})
        else:
            same = gettext("Nothing changed: %(kind)s was so already.")
            messages.warning(request, same % {"kind": kind})
        return redirect(back_to(request, home))
    context = {"kind": kind, "remedy": REMEDY.value, "said": said, "next": back_to(request, home)}
    part = "switch_form" if request.headers.get("HX-Request") else "switch"
    return render(request, f"kinds/{part}.html", context)


def _words(strategy: StrategyName) -> str:
    return strategy.value.replace("_", " ")
