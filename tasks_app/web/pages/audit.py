"""The audit: searched by its address, one entry in full, exported as it is searched."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    QueryDict,
)
from django.shortcuts import render
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tasks_app.services.masking.audit_masking import shown_entries, shown_pages
from tasks_app.services.masking.payload_masking import hidden_from_user
from tasks_app.store.reads.people import audit as reads
from tasks_app.store.reads.people.audit import AuditFilter, Entry
from tasks_app.web import exports
from tasks_app.web.audit_subjects import address_of
from tasks_app.web.filters import read_text

NAMES: Final = ("actor", "action", "text", "since", "until")


def read_filter(query: QueryDict) -> AuditFilter:
    """What an address narrows the audit to; both days are meant whole, in UTC."""
    until = _day(query, "until")
    return AuditFilter(
        actor=read_text(query, "actor"),
        action=read_text(query, "action"),
        text=read_text(query, "text"),
        since=_day(query, "since"),
        until=until + timedelta(days=1) if until else None,
    )


def _day(query: QueryDict, name: str) -> datetime | None:
    try:
        day = parse_date(read_text(query, name))
    except ValueError:
        return None
    if day is None or not 1970 <= day.year <= 9000:
        return None
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _number(query: QueryDict, name: str) -> int | None:
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else None


def _address(query: QueryDict, **changed: object) -> str:
    found = QueryDict(mutable=True)
    kept = {name: read_text(query, name) for name in NAMES}
    found.update({n: str(v) for n, v in {**kept, **changed}.items() if v not in ("", None)})
    return "?" + found.urlencode()


@require_safe
@never_cache
def audit(request: HttpRequest) -> HttpResponse:
    """Show the page, or only its table when htmx asks again."""
    wanted = read_filter(request.GET)
    hidden = hidden_from_user(request.user)
    guarded = replace(wanted, guarded=bool(hidden))
    page = reads.list_entries(
        guarded, _number(request.GET, "before"), _number(request.GET, "after")
    )
    context = {
        "wanted": wanted,
        "narrows": wanted != AuditFilter(),
        "page": replace(page, rows=shown_entries(page.rows, hidden)),
        "looked_at": reads.LOOKED_AT,
        "older": _address(request.GET, before=page.older) if page.older else "",
        "newer": _address(request.GET, after=page.newer) if page.newer else "",
        "query": {name: read_text(request.GET, name) for name in NAMES},
        "address": _address(request.GET),
    }
    if request.headers.get("HX-Request"):
        return render(request, "audit/table.html", context)
    return render(request, "audit/audit.html", {**context, "actions": reads.list_actions()})


@require_safe
@never_cache
def entry(request: HttpRequest, number: int) -> HttpResponse:
    """Show one entry in full."""
    found = reads.find_entry(number) if number < 2**63 else None
    if found is None:
        raise Http404(_("There is no entry %(number)s in the audit.") % {"number": number})
    (found,) = shown_entries([found], hidden_from_user(request.user))
    parts = {_("Before"): found.before, _("After"): found.after, _("Detail"): found.detail}
    texts = {
        name: json.dumps(value, indent=2, ensure_ascii=False)
        for name, value in parts.items()
        if value not in (None, {})
    }
    context = {"entry": found, "texts": texts, "address": address_of(found.subject)}
    return render(request, "audit/entry.html", context)


@require_safe
@never_cache
def export(request: HttpRequest) -> HttpResponseBase:
    """Stream all that the filter matches, the newest first, as CSV or JSON lines."""
    hidden = hidden_from_user(request.user)
    wanted = replace(read_filter(request.GET), guarded=bool(hidden))
    pages = shown_pages(reads.every_entry(wanted), hidden)
    return exports.stream(request, "audit", exports.columns_of(Entry), pages)
