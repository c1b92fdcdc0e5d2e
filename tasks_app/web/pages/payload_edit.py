"""Edit a dead task's payload and requeue it."""

import json
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from tasks_app.core.sanitise import clean_text
from tasks_app.core.states import Status
from tasks_app.services.actions.payload_edits import Edited, RequeueRefused, edit_and_requeue
from tasks_app.services.masking.payload_masking import hidden_from_user
from tasks_app.services.masking.word_masking import words_about
from tasks_app.store.reads.search.task_payloads import TaskPayload, find_payload
from tasks_app.translation import translated
from tasks_app.web.acting import actor_of, operators_only
from tasks_app.web.filters import read_text


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@operators_only
def edit_payload(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Show the payload in a field (GET), or check it, write it and requeue the task (POST)."""
    found = find_payload(task_id)
    if found is None:
        raise Http404(_("There is no task %(id)s.") % {"id": task_id})
    hidden = hidden_from_user(request.user)
    hides = words_about([task_id], hidden).hides_in(task_id, found.payload)
    if request.method != "POST":
        return _show(request, found, hides, json.dumps(found.payload, indent=2, ensure_ascii=False))
    text = clean_text(request.POST.get("payload", ""))
    requeues = request.POST.get("requeues", "")
    known = int(requeues) if requeues.isascii() and requeues.isdigit() and len(requeues) < 9 else -1
    reason = read_text(request.POST, "because")
    try:
        edited = edit_and_requeue(
            task_id, known, text, actor_of(request), reason, sees_payloads=not hides
        )
    except RequeueRefused as refused:
        edited = Edited(refused=str(refused))
    if edited.faults:
        return _show(request, found, hides, text, {"faults": edited.faults})
    if edited.refused:
        unchanged = _("Nothing was changed: %(why)s")
        messages.warning(request, unchanged % {"why": translated(edited.refused)})
    else:
        count = len(edited.changes)
        done = ngettext(
            "%(count)s change, and requeued.", "%(count)s changes, and requeued.", count
        )
        messages.success(request, done % {"count": count})
    return redirect("web:task", task_id)


def _show(
    request: HttpRequest, found: TaskPayload, hides: bool, text: str, more: Any = None
) -> HttpResponse:
    context = {
        "task": found,
        "text": "" if hides else text,
        "hides": hides,
        "dead": found.status == Status.DEAD,
        "because": read_text(request.POST, "because"),
        **(more or {}),
    }
    return render(request, "tasks/edit.html", context, status=422 if more else 200)
