"""One task: what it is, why it is not running, what was tried, what hangs on it."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from tasks_app.core.states import ACTIVE, UNFINISHED, Status
from tasks_app.services.cancellation import CancelResult, cancel_tasks
from tasks_app.services.people import may_operate
from tasks_app.store.reads import task_detail
from tasks_app.store.reads.duty import SILENT_BEATS
from tasks_app.store.reads.inbox import find_held
from tasks_app.store.reads.task_waiting import read_checklist
from tasks_app.web.acting import actor_of, operators_only, tell
from tasks_app.web.filters import read_text


@require_safe
@never_cache
def task(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Show the page, or only what changes in it when htmx asks again."""
    found = _found(task_id)
    edges = task_detail.list_edges(task_id)
    waits = found.status in (Status.PENDING, Status.FAILED)
    held = find_held(task_id) if found.status == Status.RUNNING else None
    context = {
        "task": found,
        "lease": task_detail.find_lease(task_id) if found.status in ACTIVE else None,
        "held": held,
        "checklist": read_checklist(found, SILENT_BEATS * settings.BEAT_SECONDS) if waits else None,
        "attempts": task_detail.list_attempts(task_id),
        "needs": [edge for edge in edges if edge.needed],
        "needed_by": [edge for edge in edges if not edge.needed],
        "late": task_detail.list_late(task_id),
        "acts": task_detail.list_acts(found),
        "can_cancel": found.status in UNFINISHED and not found.cancel_asked,
        "may_operate": may_operate(request.user),
        "most": {"attempts": task_detail.MOST_ATTEMPTS, "edges": task_detail.MOST_EDGES},
        "longest": task_detail.LONGEST_JSON,
    }
    part = "live" if request.headers.get("HX-Request") else "task"
    return render(request, f"tasks/{part}.html", context)


def _found(task_id: UUID) -> task_detail.TaskDetail:
    found = task_detail.find_detail(task_id)
    if found is None:
        raise Http404(f"There is no task {task_id}.")
    return found


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
        "dependents": sum(not edge.needed for edge in edges),
        "next": reverse("web:task", args=[task_id]),
    }
    part = "cancel_form" if request.headers.get("HX-Request") else "cancel"
    return render(request, f"tasks/{part}.html", context)


def _say(request: HttpRequest, result: CancelResult) -> None:
    if result.asked:
        messages.success(
            request, "Its worker is asked to let go of it, and hears of it within seconds."
        )
    else:
        tell(request, "cancelled", len(result.done), result.refused.values())
