"""The list of tasks: filtered by its address, newest first, kept up to date."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tasks_app.core.states import Status
from tasks_app.services.people import may_operate
from tasks_app.store.reads.counts import KindCount, count_by_kind
from tasks_app.store.reads.kinds import list_kind_names
from tasks_app.store.reads.task_lists import (
    SEARCH_SECONDS,
    TaskPage,
    list_tasks,
    list_worker_names,
)
from tasks_app.web.filters import TaskQuery

RARE = (Status.DISMISSED, Status.CANCELLED, Status.SKIPPED)
"""Statuses that get a tab only where there is such a task."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One status above the list; ``count`` is None where the rollup cannot know it."""

    status: str
    address: str
    here: bool
    count: int | None


@require_safe
@never_cache
def tasks(request: HttpRequest) -> HttpResponse:
    """Show the page, or only its table when htmx asks again."""
    query = TaskQuery.read(request.GET)
    page = list_tasks(query.wanted, query.before, query.after)
    found = _only_hit(query, page)
    if found and not request.headers.get("HX-Request"):
        return redirect("web:task", found)
    context = {
        "query": query,
        "page": page,
        "tabs": _tabs(query, count_by_kind()),
        "older": query.address(before=page.older) if page.older else "",
        "newer": query.address(after=page.newer) if page.newer else "",
        "newest": query.address(),
        "search_seconds": SEARCH_SECONDS,
        "may_operate": may_operate(request.user),
    }
    if request.headers.get("HX-Request"):
        return render(request, "tasks/table.html", context)
    return render(request, "tasks/tasks.html", {**context, **_choices()})


def _choices() -> dict[str, Sequence[str]]:
    return {"kinds": list_kind_names(), "workers": list_worker_names()}


def _only_hit(query: TaskQuery, page: TaskPage) -> str:
    """The id that was searched for, when it is a task's in full."""
    text = query.wanted.text.lower()
    return text if len(page.rows) == 1 and str(page.rows[0].id) == text else ""


def _tabs(query: TaskQuery, counts: Sequence[KindCount]) -> list[Tab]:
    """A tab for each status with the rollup's figure, which knows kinds but no worker or text."""
    wanted = query.wanted
    known = not wanted.worker and not wanted.text
    by_status: dict[str, int] = {}
    for entry in counts:
        if not wanted.kind or entry.kind == wanted.kind:
            by_status[entry.status] = by_status.get(entry.status, 0) + entry.count
    tabs = [Tab("", query.address(status=""), not wanted.status, sum(by_status.values()))]
    for status in Status:
        here, count = status == wanted.status, by_status.get(status, 0)
        if here or count or status not in RARE:
            tabs.append(Tab(status, query.address(status=status.lower()), here, count))
    return tabs if known else [Tab(t.status, t.address, t.here, None) for t in tabs]
