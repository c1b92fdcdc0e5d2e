"""One task: what it is, why it is not running, what was tried, what hangs on it."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from tasks_app.core.actions.bulks import TOUCHES, BulkAction
from tasks_app.core.drawing.page_room import Room
from tasks_app.core.masking.hidden_words import Words
from tasks_app.core.states import ACTIVE, UNFINISHED, Status
from tasks_app.services.actions.cancellation import CancelResult, cancel_tasks
from tasks_app.services.masking.audit_masking import shown_act
from tasks_app.services.masking.payload_masking import hidden_from_user, shown_inputs, shown_task
from tasks_app.services.masking.word_masking import words_about
from tasks_app.services.people.people import may_operate
from tasks_app.store.reads.actions.task_actions import list_acts
from tasks_app.store.reads.attempts.task_logs import list_lines
from tasks_app.store.reads.dispatch.leader_status import SILENT_BEATS
from tasks_app.store.reads.dispatch.task_waiting import Checklist, read_checklist
from tasks_app.store.reads.jobs.inbox import find_held
from tasks_app.store.reads.search import task_detail
from tasks_app.store.reads.search.task_detail import TaskDetail
from tasks_app.web.act_words import WORDS
from tasks_app.web.acting import actor_of, operators_only, tell
from tasks_app.web.filters import read_text
from tasks_app.web.job_graph import draw_task
from tasks_app.web.task_timeline import strip_of, timeline_of


@require_safe
@never_cache
def task(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Show the page, or only what changes in it when htmx asks again."""
    hidden = hidden_from_user(request.user)
    edges = task_detail.list_edges(task_id)
    words = words_about([task_id, *(edge.id for edge in edges if edge.needed)], hidden)
    room = Room()
    # Its lock is looked for by its own key, whoever may see that.
    whole = _found(task_id)
    found = shown_task(whole, words)
    waits = found.status in (Status.PENDING, Status.FAILED)
    held = find_held(task_id) if found.status == Status.RUNNING else None
    waits_for = [edge for edge in edges if edge.waits]
    context = {
        "task": found,
        "waits_for": waits_for,
        "held_by_job": found.waiting_on > len(waits_for) < task_detail.MOST_EDGES,
        "masks": task_id in words.sources,
        "room": room,
        "held": held,
        "checklist": _checklist(whole, found) if waits else None,
        "can_cancel": found.status in UNFINISHED and not found.cancel_asked,
        "adjusts": _adjusts(found) if may_operate(request.user) else (),
        "may_operate": may_operate(request.user),
        "most": {"attempts": task_detail.MOST_ATTEMPTS, "edges": task_detail.MOST_EDGES},
        "drawing": draw_task(task_id, hidden) if found.job_id else None,
        **_history(found, words, room),
        "needs": shown_inputs(edges, words),
        "needed_by": [edge for edge in edges if not edge.needed],
    }
    part = "live" if request.headers.get("HX-Request") else "task"
    return render(request, f"tasks/{part}.html", context)


def _checklist(whole: TaskDetail, found: TaskDetail) -> Checklist:
    """Why it is not running; whose lock is hidden is not told who holds it, and under which key."""
    checklist = read_checklist(whole, SILENT_BEATS * settings.BEAT_SECONDS)
    return checklist if found.lock_key == whole.lock_key else replace(checklist, lock_holder=None)


def _adjusts(found: TaskDetail) -> list[tuple[BulkAction, Promise]]:
    """What can be changed of a task that has not ended: the act, and its word."""
    return [
        (act, WORDS[act].verb)
        for act in (BulkAction.PRIORITY, BulkAction.DEADLINE)
        if found.status in TOUCHES[act] & UNFINISHED
    ]


def _found(task_id: UUID) -> TaskDetail:
    found = task_detail.find_detail(task_id)
    if found is None:
        raise Http404(_("There is no task %(id)s.") % {"id": task_id})
    return found


def _history(found: TaskDetail, words: Words, room: Room) -> dict[str, Any]:
    lease = task_detail.find_lease(found.id) if found.status in ACTIVE else None
    if lease is not None:
        lease = words.row(found.id, lease, "note")
    attempts = [
        words.row(found.id, attempt, "error_message", "traceback")
        for attempt in task_detail.list_attempts(found.id)
    ]
    lines = {
        token: [words.row(found.id, line, "text") for line in said]
        for token, said in list_lines(found.id).items()
    }
    acts = [shown_act(act, found.id, words) for act in list_acts(found)]
    late = task_detail.list_late(found.id)
    return {
        "lease": lease,
        "attempts": attempts,
        "moments": timeline_of(found, lease, attempts, acts, late, lines, room),
        "strip": strip_of(found, lease, attempts),
    }


@require_safe
@never_cache
def task_json(request: HttpRequest, task_id: UUID, part: str) -> HttpResponse:
    """The whole payload or result as a file, as this person may see it."""
    words = words_about([task_id], hidden_from_user(request.user))
    found = shown_task(_found(task_id), words)
    if part not in ("payload", "result"):
        raise Http404(_("A task has a payload and a result, but no %(part)s.") % {"part": part})
    value = found.payload if part == "payload" else found.result
    layout = {"indent": 2, "ensure_ascii": False}
    return JsonResponse(value, safe=False, json_dumps_params=layout)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@operators_only
def cancel(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Ask whether to cancel a task (GET), or cancel it (POST)."""
    found = _found(task_id)
    if request.method == "POST":
        reason = read_text(request.POST, "because")
        _say(request, cancel_tasks([task_id], actor_of(request), reason))
        return redirect("web:task", task_id)
    edges = task_detail.list_edges(task_id)
    context = {
        "task": found,
        "held": find_held(task_id),
        "dependents": sum(not edge.needed for edge in edges),
        "next": reverse("web:task", args=[task_id]),
    }
    part = "cancel_form" if request.headers.get("HX-Request") else "cancel"
    return render(request, f"tasks/{part}.html", context)


def _say(request: HttpRequest, result: CancelResult) -> None:
    if result.asked:
        messages.success(
            request, _("Its worker is asked to let go of it, and hears of it within seconds.")
        )
    else:
        tell(request, WORDS[BulkAction.CANCEL], len(result.done), result.refused.values())
