"""The inbox: steps that wait for people; take one, fill in its form, extend it, hand it back."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from tasks_app.core.drawing.page_room import Room
from tasks_app.core.drawing.result_forms import make_form
from tasks_app.core.states import Status
from tasks_app.services.jobs import human_steps as services
from tasks_app.services.jobs.human_steps import Claimed
from tasks_app.services.jobs.result_schemas import Faults
from tasks_app.services.masking.payload_masking import hidden_from_user, shown_inputs, shown_task
from tasks_app.services.masking.word_masking import words_about
from tasks_app.services.people.people import may_operate
from tasks_app.store.reads.jobs import inbox as reads
from tasks_app.store.reads.jobs.inbox import InboxCursor
from tasks_app.store.reads.search import task_detail
from tasks_app.translation import translated
from tasks_app.web.acting import actor_of, back_to, operators_only
from tasks_app.web.filters import read_text
from tasks_app.web.result_fields import bind, read_result, sent_texts

LOST = gettext_lazy(
    "It is no longer yours: your time ran out, or it was cancelled. Nothing was recorded."
)


def user_id(request: HttpRequest) -> int:
    """Whose request it is; every page asks for a login."""
    assert request.user.pk is not None, "nobody gets here without a login"
    return request.user.pk


@require_safe
@never_cache
def inbox(request: HttpRequest) -> HttpResponse:
    """Show the page, or only its tables when htmx asks again."""
    after = InboxCursor.read(request.GET.get("after", ""))
    context = {
        "waiting": reads.list_waiting(after),
        "mine": reads.list_held(user_id(request), mine=True),
        "others": reads.list_held(user_id(request), mine=False),
        "after": after,
        "page_size": reads.PAGE,
        "may_operate": may_operate(request.user),
    }
    part = "tables" if request.headers.get("HX-Request") else "inbox"
    return render(request, f"inbox/{part}.html", context)


@require_safe
@never_cache
def step(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Show one step with what is known about it and, to who has it, its form."""
    if request.headers.get("HX-Request"):
        return render(request, "inbox/head.html", _context(request, task_id))
    return _page(request, task_id)


def _context(request: HttpRequest, task_id: UUID) -> dict[str, Any]:
    task = task_detail.find_detail(task_id)
    about = reads.find_step(task_id)
    if task is None or about is None:
        raise Http404(_("There is no task %(id)s.") % {"id": task_id})
    edges = [edge for edge in task_detail.list_edges(task_id) if edge.needed]
    words = words_about([task_id, *(edge.id for edge in edges)], hidden_from_user(request.user))
    held = reads.find_held(task_id) if task.status == Status.RUNNING else None
    waits = task.status == Status.PENDING
    if not about.by_people and held is None:
        raise Http404(_("Task %(id)s is not done by people.") % {"id": task_id})
    return {
        "task": shown_task(task, words),
        "words": words,
        "edges": edges,
        "room": Room(),
        "about": about,
        "held": held,
        "mine": held is not None and held.user_id == user_id(request),
        "waits": waits,
        "holds_back": reads.why_not_claimed(task_id) if waits else "",
        "may_operate": may_operate(request.user),
    }


def _page(
    request: HttpRequest, task_id: UUID, faults: Faults | None = None, status: int = 200
) -> HttpResponse:
    """The whole page; what was typed and sent with the request stands in its form again."""
    context = _context(request, task_id)
    texts = sent_texts(request.POST) if request.method == "POST" else None
    context |= {
        "form": bind(make_form(context["about"].result_schema), texts, faults),
        "filled": texts is not None,
        "inputs": shown_inputs(context["edges"], context["words"]),
    }
    return render(request, "inbox/step.html", context, status=status)


@require_POST
@operators_only
def claim(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Take a step that waits."""
    found = services.claim_step(task_id, user_id(request), actor_of(request))
    if isinstance(found, Claimed):
        messages.success(request, _("It is yours."))
    else:
        not_taken = _("It was not taken. %(why)s")
        messages.warning(request, not_taken % {"why": translated(found.reason)})
    # What was typed before its time ran out is not to be typed again.
    return _page(request, task_id) if sent_texts(request.POST) else redirect("web:step", task_id)


@require_POST
@operators_only
def extend(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Have the whole time again."""
    until = services.extend_step(task_id, _token(request), user_id(request), actor_of(request))
    if request.headers.get("HX-Request"):
        return render(request, "inbox/head.html", _context(request, task_id))
    if until is None:
        messages.warning(request, LOST)
    else:
        messages.success(request, _("You have the whole time again."))
    if sent_texts(request.POST):
        return _page(request, task_id)
    return redirect(back_to(request, reverse("web:step", args=[task_id])))


@require_POST
@operators_only
def release(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Hand a step back."""
    if services.release_step(task_id, _token(request), user_id(request), actor_of(request)):
        messages.success(request, _("It waits for anybody again."))
    else:
        messages.warning(request, LOST)
    return redirect("web:inbox")


@require_POST
@operators_only
def complete(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Record what was filled in, or show the form again with what is wrong."""
    about = reads.find_step(task_id)
    if about is None:
        raise Http404(_("There is no task %(id)s.") % {"id": task_id})
    texts, schema = sent_texts(request.POST), about.result_schema
    result, faults = read_result(make_form(schema), schema, texts)
    if faults:
        return _page(request, task_id, faults, status=422)
    end = services.complete_step(
        task_id, _token(request), result, user_id(request), actor_of(request)
    )
    if end.done:
        recorded = _("Recorded: %(name)s is completed.")
        messages.success(request, recorded % {"name": about.name})
        return redirect("web:inbox")
    if not end.faults:
        messages.warning(request, LOST)
    return _page(request, task_id, end.faults, status=422 if end.faults else 409)


def _token(request: HttpRequest) -> int:
    """The token that the form names; 0, which nobody ever held, for none."""
    text = read_text(request.POST, "token")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


ACTS: dict[str, Callable[..., HttpResponse]] = {
    "claim": claim,
    "extend": extend,
    "release": release,
    "complete": complete,
}
