"""Probes: whether this process lives, and whether the whole control plane does its work."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tasks_app.store.reads.dispatch.leader_status import (
    SILENT_BEATS,
    accepts_writes,
    last_round_age_seconds,
)


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer that this web process lives; nothing else is asked."""
    return JsonResponse({"status": "alive"})


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the database accepts writes and a round was recorded lately, else 503.

    A probe gets no connection that is older than an outage, so what it finds is how it is now.
    """
    try:
        age, writable = last_round_age_seconds(), accepts_writes()
    except Error:
        return _unready("the database cannot be reached")
    if not writable:
        return _unready("the database is read-only")
    if age is None:
        return _unready("no supervisor has recorded a round yet")
    if age > SILENT_BEATS * settings.BEAT_SECONDS:
        return _unready(f"the last round was recorded {age:.0f} s ago")
    return JsonResponse({"status": "ready", "last_round_age_seconds": round(age, 3)})


def _unready(reason: str) -> HttpResponse:
    return JsonResponse({"status": "unready", "reason": reason}, status=503)
