"""Workers: who is there, what they hold and can do; drain one, let it take work again."""

from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from tasks_app.core.masking.redaction import Budget
from tasks_app.services.actions.operations import drain_worker, evict_worker, resume_worker
from tasks_app.services.masking.payload_masking import hidden_from_user
from tasks_app.services.masking.word_masking import shown_rows
from tasks_app.services.people.people import may_operate
from tasks_app.store.reads.dispatch.overview import MISSED_HEARTBEATS
from tasks_app.store.reads.fleet import worker_history, worker_lists
from tasks_app.store.reads.jobs.inbox import find_person_name
from tasks_app.store.reads.settings.configuration import supervisor_settings
from tasks_app.web.acting import WHY, actor_of, back_to, operators_only
from tasks_app.web.filters import read_text


def _late_after() -> float:
    """Seconds without a sign of life that are a worry."""
    return MISSED_HEARTBEATS * supervisor_settings().heartbeat_seconds


@require_safe
@never_cache
def workers(request: HttpRequest) -> HttpResponse:
    """Show the page, or only its tables when htmx asks again."""
    live = worker_lists.list_live_workers()
    context = {
        "live": live,
        "longest": max((worker.queued_seconds for worker in live), default=0.0) or 1.0,
        "ended": worker_lists.list_ended_boots(),
        "most_ended": worker_lists.MOST_ENDED,
        "late_after": _late_after(),
        "may_operate": may_operate(request.user),
    }
    part = "tables" if request.headers.get("HX-Request") else "workers"
    return render(request, f"workers/{part}.html", context)


@require_safe
@never_cache
def worker(request: HttpRequest, worker_id: UUID) -> HttpResponse:
    """Show one boot of a worker, or only what changes in it when htmx asks again.

    A person is no worker: what they did stands in the audit.
    """
    found = worker_lists.find_worker(worker_id)
    if found is None:
        person = find_person_name(worker_id)
        if person:
            return redirect(f"{reverse('web:audit')}?{urlencode({'actor': person})}")
        raise Http404(_("There is no worker %(id)s.") % {"id": worker_id})
    hidden, budget = hidden_from_user(request.user), Budget()
    context = {
        "worker": found,
        "held": shown_rows(worker_lists.list_held(worker_id), hidden, "id", "note", budget=budget),
        "strip": worker_history.read_strip(found) if found.live else (),
        "kinds": worker_history.list_kinds(worker_id),
        "casualties": worker_history.list_casualties(worker_id),
        "near_misses": worker_history.list_near_misses(worker_id),
        "versions": worker_history.list_peer_versions(worker_id),
        "recent": shown_rows(
            worker_lists.list_recent_attempts(worker_id), hidden, "task_id", "line", budget=budget
        ),
        "boots": worker_lists.list_ended_boots(found.name),
        "looked_at": worker_lists.ATTEMPTS_LOOKED_AT,
        "late_after": _late_after(),
        "may_operate": may_operate(request.user),
    }
    part = "live" if request.headers.get("HX-Request") else "worker"
    return render(request, f"workers/{part}.html", context)


@require_POST
@operators_only
def drain(request: HttpRequest, worker_id: UUID) -> HttpResponse:
    """Ask a worker to take nothing new."""
    if drain_worker(worker_id, actor_of(request)):
        text = _("It drains: it ends what it has begun; what it had not begun goes to others.")
        messages.success(request, text)
    else:
        messages.warning(request, _("Nothing changed: it drains already, or has ended."))
    return redirect(back_to(request, reverse("web:workers")))


@require_POST
@operators_only
def resume(request: HttpRequest, worker_id: UUID) -> HttpResponse:
    """Let a drained worker take work again."""
    if resume_worker(worker_id, actor_of(request)):
        messages.success(request, _("It takes work again."))
    else:
        messages.warning(request, _("Nothing changed: it was not draining, or has ended."))
    return redirect(back_to(request, reverse("web:workers")))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@operators_only
def evict(request: HttpRequest, worker_id: UUID) -> HttpResponse:
    """Show what an eviction would take from a worker (GET), or evict it (POST)."""
    found, because = worker_lists.find_worker(worker_id), read_text(request.POST, "because")
    if found is None:
        raise Http404(_("There is no worker %(id)s.") % {"id": worker_id})
    if request.method == "POST" and because:
        released = evict_worker(worker_id, actor_of(request), because)
        if released is None:
            messages.warning(request, _("Nothing changed: it has ended already."))
        else:
            evicted = ngettext(
                "It is evicted; %(count)s of its tasks goes to others.",
                "It is evicted; %(count)s of its tasks go to others.",
                released,
            )
            messages.success(request, evicted % {"count": f"{released:,}"})
        return redirect("web:worker", worker_id)
    fault = WHY if request.method == "POST" else ""
    context = {
        "worker": found,
        "fault": fault,
        "next": reverse("web:worker", args=[worker_id]),
    }
    part = "evict_form" if request.headers.get("HX-Request") else "evict"
    return render(request, f"workers/{part}.html", context, status=422 if fault else 200)
