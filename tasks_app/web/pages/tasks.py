"""The list of tasks: found by a query, kept up to date without being pushed about."""

from dataclasses import replace
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tasks_app.core.search.query_fields import FIELDS, whole_id
from tasks_app.services.masking.payload_masking import hidden_from_user
from tasks_app.services.masking.word_masking import shown_rows
from tasks_app.services.people.people import may_operate
from tasks_app.services.search.task_columns import TASK_COLUMNS, WHOLE_COLUMNS, with_payloads
from tasks_app.services.search.task_search import ReadQuery, SearchOrder, read_query_of, suggest
from tasks_app.store.reads.dispatch.counts import count_by_kind
from tasks_app.store.reads.search.task_lists import (
    MOST_NEW,
    SEARCH_SECONDS,
    count_newer,
    iterate_pages,
    list_tasks,
    newest_id,
)
from tasks_app.store.reads.search.task_rows import Sort, TaskPage
from tasks_app.web import exports
from tasks_app.web.query_parts import chips_of, headings_of, marked, tabs_of
from tasks_app.web.task_address import COLUMNS, ListAddress

PAGE_OF_PAYLOADS: Final = 100
"""Tasks that an export with payloads reads at once: a payload may have 256 KiB."""


@require_safe
@never_cache
def tasks(request: HttpRequest) -> HttpResponse:
    """Show the page, or only its table when htmx asks again."""
    address = ListAddress.read(request.GET)
    part = bool(request.headers.get("HX-Request"))
    if not part and (task_id := whole_id(address.text)) and list_tasks_found(request, address):
        return redirect("web:task", task_id)
    read = read_query_of(request.user, address.text, address.search_order)
    page = TaskPage(())
    if not read.faults:
        page = list_tasks(read.wanted, address.after, address.before)
        rows = shown_rows(page.rows, read.wanted.hidden, "id", "error", "lock_key")
        page = replace(page, rows=rows)
    context = _table(address, read, page)
    context["may_operate"] = may_operate(request.user)
    if part:
        return render(request, "tasks/table.html", context)
    context |= {"columns": COLUMNS, "fields": FIELDS.values()}
    return render(request, "tasks/tasks.html", context)


def list_tasks_found(request: HttpRequest, address: ListAddress) -> bool:
    """Whether the query is the id of a task in full."""
    read = read_query_of(request.user, f"id:{address.text}")
    return bool(list_tasks(read.wanted, most=1).rows)


def _table(address: ListAddress, read: ReadQuery, page: TaskPage) -> dict[str, Any]:
    """What the part of the page that refreshes shows."""
    # The first page stays as it is: tasks that come later wait behind their number.
    upto = address.upto
    if page.rows and upto is None and not address.after and not address.before:
        upto = newest_id()
    place = {"after": address.after, "before": address.before, "upto": upto}
    return {
        "address": address,
        "query": read,
        "fault_marks": [marked(read.text, fault) for fault in read.faults],
        "chips": chips_of(read, address),
        "tabs": tabs_of(read, address, count_by_kind()),
        "headings": headings_of(address),
        "page": page,
        "without_index": read.without_index(page.indexed),
        "again": address.link(**place),
        "next": address.link(after=page.next, upto=upto) if page.next else "",
        "previous": address.link(before=page.previous, upto=upto) if page.previous else "",
        "first": address.link(),
        "newer": count_newer(read.wanted) if address.upto and not read.faults else 0,
        "most_new": MOST_NEW,
        "search_seconds": SEARCH_SECONDS,
    }


@require_safe
@never_cache
def complete(request: HttpRequest) -> HttpResponse:
    """Suggest what may be written next at the caret."""
    address = ListAddress.read(request.GET)
    raw = request.GET.get("q", "")[: len(address.text) + 100]
    at = request.GET.get("at", "")
    hidden = hidden_from_user(request.user)
    caret = int(at) if at.isascii() and at.isdigit() and len(at) < 6 else len(raw)
    return render(request, "tasks/suggestions.html", {"suggestions": suggest(raw, caret, hidden)})


@require_safe
@never_cache
def export(request: HttpRequest) -> HttpResponseBase:
    """Stream all that a query finds as CSV or JSON lines, by age: other orders end soon.

    ``payload=1`` adds what it takes to submit the tasks again, for those who see payloads whole.
    """
    address = ListAddress.read(request.GET)
    order = SearchOrder(backwards=address.backwards and address.sort is Sort.AGE)
    read = read_query_of(request.user, address.text, order)
    if read.faults:
        return HttpResponse(str(read.faults[0]), status=400, content_type="text/plain")
    if request.GET.get("payload") == "1":
        if read.wanted.hidden:
            refused = _("Kinds hide values in payloads: this needs the permission see_payloads.")
            return HttpResponse(refused, status=403, content_type="text/plain; charset=utf-8")
        found = iterate_pages(read.wanted, page=PAGE_OF_PAYLOADS)
        whole = (with_payloads(page.rows) for page in found)
        return exports.stream(request, "tasks", WHOLE_COLUMNS, whole)
    pages = (
        shown_rows(page.rows, read.wanted.hidden, "id", "error", "lock_key")
        for page in iterate_pages(read.wanted)
    )
    return exports.stream(request, "tasks", TASK_COLUMNS, pages)
