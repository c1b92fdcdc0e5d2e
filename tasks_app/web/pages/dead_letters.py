"""Dead letters: by the fingerprint of their error and as rows; one group with its history."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from tasks_app.core.masking.redaction import Budget, Hidden
from tasks_app.core.sanitise import clean_text
from tasks_app.core.states import DeadReason
from tasks_app.services.actions import dead_groups as services
from tasks_app.services.masking.payload_masking import hidden_from_user
from tasks_app.services.masking.word_masking import shown_rows, words_about
from tasks_app.services.people.people import may_operate
from tasks_app.store.reads.failures import dead_groups
from tasks_app.store.reads.failures import dead_letters as reads
from tasks_app.store.reads.failures.dead_letters import DeadCursor, DeadFilter
from tasks_app.store.reads.search.kinds import list_kind_names
from tasks_app.translation import translated
from tasks_app.web.acting import actor_of, operators_only
from tasks_app.web.chosen import read_filter
from tasks_app.web.filters import read_text


def _address(wanted: DeadFilter, **changed: str) -> str:
    parts = {"kind": wanted.kind, "reason": wanted.reason, "cause": wanted.cause, **changed}
    return "?" + urlencode({name: value for name, value in parts.items() if value})


@require_safe
@never_cache
def dead_letters(request: HttpRequest) -> HttpResponse:
    """Show the page, or only its tables when htmx asks again."""
    wanted = read_filter(request.GET)
    causes, more = reads.list_causes(DeadFilter(wanted.kind, wanted.reason))
    hidden = hidden_from_user(request.user)
    budget = Budget()
    causes = shown_rows(causes, hidden, "sample", "line", budget=budget)
    histories = dead_groups.read_histories([cause.key for cause in causes])
    context = {
        "causes": [(c, _address(wanted, cause=c.key), histories[c.key]) for c in causes],
        "chosen": next((cause for cause in causes if cause.key == wanted.cause), None),
        "more_causes": more,
        "looked_at": reads.LOOKED_AT,
        "every_cause": _address(wanted, cause=""),
        "found": urlencode({"q": wanted.query()}),
        **_rows(request, wanted, hidden, budget),
    }
    if request.headers.get("HX-Request"):
        return render(request, "dead_letters/tables.html", context)
    choices = {"kinds": list_kind_names(), "reasons": [reason.value for reason in DeadReason]}
    return render(request, "dead_letters/dead_letters.html", {**context, **choices})


def _rows(
    request: HttpRequest, wanted: DeadFilter, hidden: Hidden, budget: Budget
) -> dict[str, Any]:
    """A page of rows with its neighbours' addresses."""
    before, after = (DeadCursor.read(request.GET.get(name, "")) for name in ("before", "after"))
    page = reads.list_dead(wanted, before, after)
    rows = shown_rows(page.rows, hidden, "id", "line", budget=budget)
    return {
        "wanted": wanted,
        "page": replace(page, rows=rows),
        "older": _address(wanted, before=page.older) if page.older else "",
        "newer": _address(wanted, after=page.newer) if page.newer else "",
        "may_operate": may_operate(request.user),
    }


@require_safe
@never_cache
def dead_group(request: HttpRequest, fingerprint: str) -> HttpResponse:
    """Show what is known of one fingerprint, and those dead of it, the last to die first."""
    sample = dead_groups.find_sample(fingerprint)
    history = dead_groups.read_histories([fingerprint])[fingerprint]
    if sample is None and history.first_at is None:
        never = _("Nothing has ever died with the fingerprint %(fingerprint)s.")
        raise Http404(never % {"fingerprint": fingerprint})
    hidden = hidden_from_user(request.user)
    budget = Budget()
    if sample is not None:
        words = words_about([sample.id], hidden, budget)
        sample = words.row(sample.id, sample, "message", "traceback")
    dead = dead_groups.count_dead(fingerprint)
    context = {
        "fingerprint": fingerprint,
        "sample": sample,
        "history": history,
        "spread": _spread(fingerprint),
        "dead": dead,
        "plus": "+" if dead == dead_groups.MOST_DEAD else "",
        "counted": dead_groups.COUNTED,
        "address": _address(DeadFilter(cause=fingerprint)),
        **_rows(request, DeadFilter(cause=fingerprint), hidden, budget),
    }
    part = "group_live" if request.headers.get("HX-Request") else "group"
    return render(request, f"dead_letters/{part}.html", context)


def _spread(fingerprint: str) -> list[tuple[str, str, Sequence[tuple[str, int]]]]:
    """Each part's heading, what it says of a death without one, and how many died of each."""
    found = dead_groups.read_spread(fingerprint)
    return [
        (_("Kinds"), "", found["kind"]),
        (_("Workers"), _("no worker"), found["worker"]),
        (_("Versions"), _("none told"), found["version"]),
    ]


@require_POST
@operators_only
def assign_group(request: HttpRequest, fingerprint: str) -> HttpResponse:
    """Give a group to somebody, or with an empty name to nobody."""
    name = read_text(request.POST, "colleague")
    try:
        changed = services.assign_group(fingerprint[:16], name, actor_of(request))
    except services.NobodyThere as nobody:
        messages.error(request, translated(str(nobody)))
    else:
        if changed:
            given = (
                _("Now it is %(name)s's.") % {"name": name} if name else _("Now it is nobody's.")
            )
            messages.success(request, given)
    return redirect("web:dead_group", fingerprint)


@require_POST
@operators_only
def note_group(request: HttpRequest, fingerprint: str) -> HttpResponse:
    """Write a group's note anew."""
    text = clean_text(request.POST.get("note", ""))
    if services.note_group(fingerprint[:16], text, actor_of(request)):
        messages.success(request, _("The note is written."))
    return redirect("web:dead_group", fingerprint)
