"""Jobs: the list, one job with its graph and its times, and what people do to a job."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from tasks_app.core.drawing.page_room import Room
from tasks_app.core.jobs.job_states import JOB_FINAL, JobStatus
from tasks_app.core.jobs.job_times import time_left
from tasks_app.core.masking.hidden_conditions import shown_plan
from tasks_app.core.masking.redaction import Budget
from tasks_app.core.states import FINAL
from tasks_app.services.jobs import jobs as services
from tasks_app.services.masking.payload_masking import hidden_from_user, shown_job_result
from tasks_app.services.masking.word_masking import shown_rows
from tasks_app.services.people.people import Actor, may_operate
from tasks_app.store.reads.jobs.job_lists import LOOKED_AT, JobFilter, list_jobs
from tasks_app.store.reads.jobs.job_progress import (
    MOST_BARS,
    JobTimes,
    list_bars,
    read_times,
)
from tasks_app.store.reads.jobs.jobs import JobAnswer, find_job
from tasks_app.web.acting import WHY, actor_of, operators_only
from tasks_app.web.filters import read_id, read_text
from tasks_app.web.job_gantt import draw_gantt
from tasks_app.web.job_graph import draw_job
from tasks_app.web.job_steps import list_steps


@dataclass(frozen=True, slots=True)
class Act:
    """One act on a job: its words, its service, and whether it needs a reason."""

    name: str
    label: Promise
    question: Promise
    button: Promise
    done: Promise
    service: Callable[[UUID, Actor, str], bool]
    reason_needed: bool = False


ACTS: Final = {
    act.name: act
    for act in (
        Act(
            "pause",
            gettext_lazy("Pause"),
            gettext_lazy("Pause this job?"),
            gettext_lazy("Pause the job"),
            gettext_lazy("Nothing more of it is handed out; what runs goes on."),
            services.pause_job,
        ),
        Act(
            "resume",
            gettext_lazy("Resume"),
            gettext_lazy("Resume this job?"),
            gettext_lazy("Resume the job"),
            gettext_lazy("It goes on."),
            services.resume_job,
        ),
        Act(
            "cancel",
            gettext_lazy("Cancel"),
            gettext_lazy("Cancel this job?"),
            gettext_lazy("Cancel the job"),
            gettext_lazy("It ends as soon as what runs has let go."),
            services.cancel_job,
            reason_needed=True,
        ),
        Act(
            "compensate",
            gettext_lazy("Compensate"),
            gettext_lazy("Compensate this job?"),
            gettext_lazy("Compensate the job"),
            gettext_lazy("Its completed steps are undone, the last one first."),
            services.compensate_job,
            reason_needed=True,
        ),
    )
}


def read_filter(query: QueryDict) -> JobFilter:
    """What an address narrows the list of jobs to."""
    status = read_text(query, "status").upper()
    return JobFilter(status if status in JobStatus.__members__ else "", read_text(query, "text"))


def _address(wanted: JobFilter, **changed: object) -> str:
    parts = {"status": wanted.status.lower(), "text": wanted.text, **changed}
    return "?" + urlencode({name: value for name, value in parts.items() if value})


@require_safe
@never_cache
def jobs(request: HttpRequest) -> HttpResponse:
    """Show the list, or only its table when htmx asks again."""
    wanted = read_filter(request.GET)
    before, after = read_id(request.GET, "before"), read_id(request.GET, "after")
    page = list_jobs(wanted, before, after)
    context = {
        "wanted": wanted,
        "page": page,
        "upwards": before is None and after is not None,
        "tabs": [("", _address(wanted, status=""))]
        + [(each.value, _address(wanted, status=each.value.lower())) for each in JobStatus],
        "newest": _address(wanted),
        "older": _address(wanted, before=page.older) if page.older else "",
        "newer": _address(wanted, after=page.newer) if page.newer else "",
        "looked_at": LOOKED_AT,
        "address": _address(wanted),
    }
    part = "table" if request.headers.get("HX-Request") else "jobs"
    return render(request, f"jobs/{part}.html", context)


def _found(job_id: UUID) -> JobAnswer:
    found = find_job(job_id)
    if found is None:
        raise Http404(_("There is no job %(id)s.") % {"id": job_id})
    return found


@require_safe
@never_cache
def job(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Show one job, or only what changes in it when htmx asks again."""
    found = _found(job_id)
    hidden = hidden_from_user(request.user)
    budget = Budget()
    waits_for = shown_rows(found.waits_for, hidden, "task_id", "message", budget=budget)
    found = replace(found, waits_for=waits_for)
    times = read_times(job_id, found.plan)
    undone = times.undone_in_order(found.plan) if _goes_back(found) else []
    context = {
        "answer": found,
        "job": found.job,
        "result": shown_job_result(found, hidden, budget),
        "plan": shown_plan(found.job.plan, hidden, budget),
        "room": Room(),
        "drawing": draw_job(found, hidden, undone=undone),
        "steps": list_steps(found, times, hidden),
        "gantt": draw_gantt(list_bars(job_id), found.plan),
        "most_bars": MOST_BARS,
        "undone": [found.steps[place] for place in undone],
        "acts": [ACTS[name] for name in _possible(found)] if may_operate(request.user) else (),
        "may_operate": may_operate(request.user),
        **_progress(found, times),
    }
    part = "live" if request.headers.get("HX-Request") else "job"
    return render(request, f"jobs/{part}.html", context)


def _goes_back(found: JobAnswer) -> bool:
    return found.job.status in (JobStatus.COMPENSATING, JobStatus.COMPENSATED)


def _possible(found: JobAnswer) -> list[str]:
    job = found.job
    if job.status in JOB_FINAL:
        return []
    possible = ["resume" if job.paused else "pause"]
    if job.status in (JobStatus.RUNNING, JobStatus.DEAD) and not job.cancel_asked:
        if any(step.compensation for step in found.plan.steps):
            possible.append("compensate")
        possible.append("cancel")
    return possible


def _progress(found: JobAnswer, times: JobTimes) -> dict[str, Any]:
    """Figures of the progress; nobody knows when it ends while a person has to do something."""
    total = sum(found.progress.values())
    ended = sum(count for status, count in found.progress.items() if status in FINAL)
    now = datetime.now(tz=UTC)
    context: dict[str, Any] = {
        "total": total,
        "ended": ended,
        "took": ((found.job.finished_at or now) - found.job.created_at).total_seconds(),
    }
    stands = found.job.paused or bool(found.waits_for)
    if found.job.status == JobStatus.RUNNING and not stands:
        left = time_left(times.steps(found.plan))
        context |= {"left": left, "ends_at": now + timedelta(seconds=left.seconds)}
    return context


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@operators_only
def act(request: HttpRequest, job_id: UUID, name: str) -> HttpResponse:
    """Show what an act on a job would do (GET), or do it (POST)."""
    found, chosen = _found(job_id), ACTS[name]
    because = read_text(request.POST, "because")
    if request.method != "POST" or (chosen.reason_needed and not because):
        return _ask(request, found, chosen)
    if chosen.service(job_id, actor_of(request), because):
        messages.success(request, str(chosen.done))
    else:
        messages.warning(request, _("Nothing changed: the job is no longer as it was shown."))
    return redirect("web:job", job_id)


def _ask(request: HttpRequest, found: JobAnswer, chosen: Act) -> HttpResponse:
    fault = WHY if request.method == "POST" else ""
    context = {
        "job": found.job,
        "answer": found,
        "act": chosen,
        "fault": fault,
        "next": reverse("web:job", args=[found.job.id]),
    }
    part = "act_form" if request.headers.get("HX-Request") else "act"
    return render(request, f"jobs/{part}.html", context, status=422 if fault else 200)
