"""Acts on tasks: what one would come to (GET), and doing it (POST), one task or many."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from tasks_app.core.actions.bulks import HOLD_SECONDS, NEEDS_REASON, BulkAction, BulkOrder
from tasks_app.core.faults import Fault
from tasks_app.core.intake.new_tasks import HIGHEST_PRIORITY
from tasks_app.core.literals import NotReadable, instant
from tasks_app.core.words import say
from tasks_app.services.actions import bulks
from tasks_app.services.actions.bulks import OrderInvalid
from tasks_app.services.search.found_tasks import LOOKED_AT, begin_found
from tasks_app.store.reads.actions.bulks import BulkRow
from tasks_app.web.act_words import WORDS, ActWords, counted
from tasks_app.web.acting import WHY, actor_of, back_to, operators_only, tell
from tasks_app.web.chosen import Chosen, read_chosen
from tasks_app.web.filters import read_text

CHANGED: Final = say(
    "It is no longer as it was shown: requeued or closed meanwhile, or dead once more."
)
NO_NUMBER: Final = 2**31
"""What is no whole number is out of every bound, and so told as a fault of its field."""


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@operators_only
def act(request: HttpRequest, action: str) -> HttpResponse:
    """Show what an act would touch (GET), or do it (POST)."""
    if action not in set(BulkAction):
        raise Http404(_("There is no act %(action)s.") % {"action": action})
    wanted = BulkAction(action)
    chosen = read_chosen(request, wanted)
    if request.method == "POST":
        return _do(request, wanted, chosen)
    return _show(request, wanted, chosen)


def _show(
    request: HttpRequest,
    action: BulkAction,
    chosen: Chosen,
    faults: Mapping[str, str] | None = None,
) -> HttpResponse:
    given = request.POST if request.method == "POST" else request.GET
    faults = faults or {}
    found, fault = chosen.look(action)
    dry, words = bulks.plan(action, found.ids), WORDS[action]
    looked_at = f"{LOOKED_AT:,}"
    context = {
        "action": action.value,
        "words": words,
        "question": str(words.many) % {"count": looked_at}
        if found.more
        else counted(words.question, dry.touched),
        "button": words.every if found.more else counted(words.button, dry.touched),
        "chosen": chosen,
        "dry": dry,
        "more": found.more,
        "fault": fault or faults.get("key", ""),
        "many": dry.preview.tasks > 1,
        "held": dry.preview.tasks > 1 or chosen.query is not None,
        "reason_needed": action in NEEDS_REASON,
        "key": ("key" not in faults and given.get("key")) or bulks.new_key(),
        "as_of": given.get("as_of") or dry.preview.as_of.isoformat(),
        "given": given,
        "hold": HOLD_SECONDS,
        "highest": HIGHEST_PRIORITY,
        "looked_at": LOOKED_AT,
        "most": bulks.MOST_FOUND,
        "next": back_to(request, reverse("web:dead_letters")),
        "faults": faults,
        "no_reason": WHY if "reason" in faults else "",
    }
    part = "act_form" if request.headers.get("HX-Request") else "act"
    return render(request, f"acts/{part}.html", context, status=422 if faults else 200)


def read_order(action: BulkAction, form: QueryDict) -> BulkOrder:
    """What a form orders; times are UTC, as the form says. Raises OrderInvalid."""
    priority = read_text(form, "priority").removeprefix("+")
    whole = priority.removeprefix("-").isdigit() and len(priority) < 8
    return BulkOrder(
        action,
        reason=read_text(form, "because"),
        canary=form.get("canary") == "1",
        priority=int(priority) if whole and priority.isascii() else NO_NUMBER,
        deadline_at=_deadline(form),
        key=read_text(form, "key")[:64] or bulks.new_key(),
    )


def _deadline(form: QueryDict) -> datetime | None:
    """The instant, UTC unless another zone is written. Raises OrderInvalid."""
    text = read_text(form, "deadline")
    if not text:
        return None
    try:
        return instant(text, UTC)
    except NotReadable as error:
        said = say("%(value)s is not read: %(error)s", value=repr(text[:40]), error=str(error))
        raise OrderInvalid([Fault("deadline", said)]) from error


def _do(request: HttpRequest, action: BulkAction, chosen: Chosen) -> HttpResponse:
    actor = actor_of(request)
    away = back_to(request, reverse("web:dead_letters"))
    changed = [CHANGED] * chosen.gone
    try:
        order = read_order(action, request.POST)
        if len(chosen.ids) == 1 and not order.canary:
            result = bulks.at_once(order, chosen.ids[0], actor)
            tell(request, WORDS[action], len(result.done), [*result.refused.values(), *changed])
            return redirect(away)
        if chosen.query is not None:
            begun = begin_found(order, chosen.query, actor, chosen.died_by)
        else:
            begun = bulks.begin(order, chosen.ids, actor)
    except OrderInvalid as invalid:
        names = {fault.place: fault.message for fault in invalid.faults}
        return _show(request, action, chosen, names)
    if begun is None:
        tell(request, WORDS[action], 0, changed)
    else:
        _say_held(request, WORDS[action], begun, chosen.gone)
    return redirect(away)


def _say_held(request: HttpRequest, words: ActWords, begun: BulkRow, gone: int) -> None:
    """A toast with an Undo for as long as the bulk is held; see partials/toasts.html."""
    text = counted(words.begun, begun.total)
    if gone:
        left_out = ngettext(
            "%(count)s is left out, no longer as shown.",
            "%(count)s are left out, no longer as shown.",
            gone,
        )
        text = f"{text} {left_out % {'count': f'{gone:,}'}}"
    messages.info(request, text, extra_tags=f"held:{begun.id}:{begun.begins_at.isoformat()}")
