"""The overview: what is wrong, six figures, three charts, dead letters by cause, the workers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tasks_app.core.literals import NotReadable, decimal_number
from tasks_app.services.masking.payload_masking import hidden_from, may_see_payloads
from tasks_app.services.masking.word_masking import shown_rows
from tasks_app.services.people.people import may_administer, may_operate
from tasks_app.store.reads.dispatch import series as samples
from tasks_app.store.reads.dispatch.leader_status import SILENT_BEATS
from tasks_app.store.reads.dispatch.overview import Overview, read_overview
from tasks_app.web.shared_reading import SharedReading

LATEST_SECOND: Final = 1e11
"""The year 5138, well within what PostgreSQL can tell as an instant."""
_live: "Final[SharedReading[_Live]]" = SharedReading()
RANGE_OF: Final[Mapping[str, samples.Range]] = {each.name: each for each in samples.RANGES}


@dataclass(frozen=True, slots=True)
class _Live:
    """One reading for everybody: ``told`` is what it says to those who may not see payloads."""

    whole: Overview
    told: Overview

    def for_user(self, user: AbstractBaseUser | AnonymousUser) -> Overview:
        """The reading as a person may see it; asked only where there is a difference."""
        hides = self.told.causes != self.whole.causes
        return self.told if hides and not may_see_payloads(user) else self.whole


@require_safe
@never_cache
def overview(request: HttpRequest) -> HttpResponse:
    """Show the page, or only what moves in it when htmx asks again."""
    again = "HX-Request" in request.headers
    latest = samples.latest_point() if again else None
    context: dict[str, Any] = {
        # Every open page asks again at every sample; whoever loads the page sees it as it is.
        "live": _live.at(latest.at if latest else None, _read).for_user(request.user),
        "ranges": samples.RANGES,
        "may_operate": may_operate(request.user),
        "may_administer": may_administer(request.user),
    }
    return render(request, f"overview/{'live' if again else 'overview'}.html", context)


def _read() -> _Live:
    whole = read_overview(SILENT_BEATS * settings.BEAT_SECONDS)
    hidden = hidden_from(sees_payloads=False) if whole.causes else {}
    told = replace(whole, causes=shown_rows(whole.causes, hidden, "sample", "line"))
    return _Live(whole, told)


@require_safe
@never_cache
def overview_series(request: HttpRequest) -> HttpResponse:
    """Answer a range's points for the charts; with ``after`` only those since that instant."""
    span = RANGE_OF.get(request.GET.get("range", ""))
    try:
        after = decimal_number(request.GET["after"]) if request.GET.get("after") else None
    except NotReadable:
        after = math.nan
    if span is None or (after is not None and not 0 <= after < LATEST_SECOND):
        said = f"range: one of {', '.join(RANGE_OF)}; after: seconds\n"
        return HttpResponseBadRequest(said, content_type="text/plain")
    latest, oldest = samples.latest_point(), samples.read_oldest()
    return JsonResponse(
        {
            "now": oldest.now,
            "oldest": oldest.created,
            "seconds": span.seconds,
            "step": span.step,
            "points": [point.as_json() for point in samples.series(span, after)],
            "latest": latest.as_json() if latest else None,
        }
    )
