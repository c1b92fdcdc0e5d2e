"""Dead letters: by cause and as rows; requeue and dismiss them, one or many."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from tasks_app.core.states import DeadReason
from tasks_app.services import operations
from tasks_app.services.operations import ActionResult
from tasks_app.services.people import Actor, may_operate
from tasks_app.store.reads import dead_letters as reads
from tasks_app.store.reads.dead_letters import DeadCursor, DeadFilter
from tasks_app.store.reads.dead_touch import MOST_AT_ONCE, Selection, read_touch, select_dead
from tasks_app.store.reads.kinds import list_kind_names
from tasks_app.web.acting import actor_of, back_to, operators_only, tell
from tasks_app.web.filters import read_text

CHANGED: Final = "It is no longer as it was shown: requeued or closed meanwhile, or dead once more."


@dataclass(frozen=True, slots=True)
class Act:
    """One act on dead letters: its words, its service, and whether it needs a reason."""

    name: str
    done: str
    service: Callable[[Sequence[UUID], Actor, str], ActionResult]
    reason_needed: bool


REQUEUE: Final = Act("requeue", "requeued", operations.requeue, reason_needed=False)
DISMISS: Final = Act("dismiss", "dismissed", operations.dismiss, reason_needed=True)


def read_filter(query: QueryDict) -> DeadFilter:
    """What an address or a form narrows dead letters to."""
    return DeadFilter(
        kind=read_text(query, "kind"),
        reason=read_text(query, "reason").lower(),
        cause=read_text(query, "cause"),
    )


def _address(wanted: DeadFilter, **changed: str) -> str:
    parts = {"kind": wanted.kind, "reason": wanted.reason, "cause": wanted.cause, **changed}
    return "?" + urlencode({name: value for name, value in parts.items() if value})


@require_safe
@never_cache
def dead_letters(request: HttpRequest) -> HttpResponse:
    """Show the page, or only its tables when htmx asks again."""
    wanted = read_filter(request.GET)
    before, after = (DeadCursor.read(request.GET.get(name, "")) for name in ("before", "after"))
    page = reads.list_dead(wanted, before, after)
    causes, more = reads.list_causes(DeadFilter(wanted.kind, wanted.reason))
    context = {
        "wanted": wanted,
        "page": page,
        "causes": [(cause, _address(wanted, cause=cause.key)) for cause in causes],
        "chosen": next((cause for cause in causes if cause.key == wanted.cause), None),
        "more_causes": more,
        "looked_at": reads.LOOKED_AT,
        "every_cause": _address(wanted, cause=""),
        "older": _address(wanted, before=page.older) if page.older else "",
        "newer": _address(wanted, after=page.newer) if page.newer else "",
        "may_operate": may_operate(request.user),
        "most": MOST_AT_ONCE,
    }
    if request.headers.get("HX-Request"):
        return render(request, "dead_letters/tables.html", context)
    choices = {"kinds": list_kind_names(), "reasons": [reason.value for reason in DeadReason]}
    return render(request, "dead_letters/dead_letters.html", {**context, **choices})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@operators_only
def requeue(request: HttpRequest) -> HttpResponse:
    """Show what a requeue would touch (GET), or do it (POST)."""
    return _do(request, REQUEUE) if request.method == "POST" else _show(request, REQUEUE)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@operators_only
def dismiss(request: HttpRequest) -> HttpResponse:
    """Show what a dismissal would touch (GET), or do it (POST)."""
    return _do(request, DISMISS) if request.method == "POST" else _show(request, DISMISS)


def read_selection(query: QueryDict) -> Selection:
    """The chosen ids, or with ``all`` the dead letters of a filter; nothing chosen is no task."""
    as_of = _instant(query.get("as_of", ""))
    if query.get("all"):
        return Selection(None, read_filter(query), as_of)
    return Selection([each for each in map(_uuid, query.getlist("id")) if each], as_of=as_of)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None


def _show(request: HttpRequest, act: Act, fault: str = "") -> HttpResponse:
    given = request.POST if request.method == "POST" else request.GET
    selection = read_selection(given)
    context = {
        "act": act,
        "selection": selection,
        "touch": read_touch(selection),
        "most": MOST_AT_ONCE,
        "next": back_to(request, reverse("web:dead_letters")),
        "fault": fault,
    }
    part = "act_form" if request.headers.get("HX-Request") else "act"
    return render(request, f"dead_letters/{part}.html", context, status=422 if fault else 200)


def _do(request: HttpRequest, act: Act) -> HttpResponse:
    because = read_text(request.POST, "because")
    if act.reason_needed and not because:
        return _show(request, act, "Say in a few words why: the audit keeps it.")
    selection = read_selection(request.POST)
    ids = select_dead(selection)
    result = act.service(ids, actor_of(request), because)
    unmatched = len(set(selection.ids or ()).difference(ids))
    tell(request, act.done, len(result.done), [*result.refused.values(), *[CHANGED] * unmatched])
    return redirect(back_to(request, reverse("web:dead_letters")))
