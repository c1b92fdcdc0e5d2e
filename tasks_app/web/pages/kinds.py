"""What people do to a kind from where it is in the way: switch how it is handed out."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from tasks_app.core.facts import StrategyName
from tasks_app.services.kind_strategy import preview_switch, switch_strategy
from tasks_app.web.acting import actor_of, admins_only, back_to
from tasks_app.web.filters import read_text

REMEDY = StrategyName.CAPABLE_LEAST_LOADED
"""What looks at both what workers can do and how much they hold."""


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@admins_only
def switch(request: HttpRequest) -> HttpResponse:
    """Show what a switch to the default strategy would do to a kind (GET), or do it (POST)."""
    given = request.POST if request.method == "POST" else request.GET
    kind, home = read_text(given, "kind"), reverse("web:overview")
    said = preview_switch(kind, REMEDY)
    if said is None:
        raise Http404(f"There is no kind {kind}.")
    if request.method == "POST":
        because = read_text(given, "because")
        if switch_strategy(kind, REMEDY, actor_of(request), because):
            messages.success(request, f"{kind} is handed out by {_words(REMEDY)} from now on.")
        else:
            messages.warning(request, f"Nothing changed: {kind} was so already.")
        return redirect(back_to(request, home))
    context = {"kind": kind, "remedy": REMEDY.value, "said": said, "next": back_to(request, home)}
    part = "switch_form" if request.headers.get("HX-Request") else "switch"
    return render(request, f"kinds/{part}.html", context)


def _words(strategy: StrategyName) -> str:
    return strategy.value.replace("_", " ")
