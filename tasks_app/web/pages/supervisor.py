"""The supervisor: who leads and stands by, its shifts, its rounds, what it could not place."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tasks_app.core.dispatch.advice import ceiling
from tasks_app.services.people.people import may_administer
from tasks_app.store.reads.alerting import list_faring
from tasks_app.store.reads.dispatch import supervision
from tasks_app.store.reads.dispatch.leader_status import SILENT_BEATS, read_duty
from tasks_app.store.reads.dispatch.series import read_costs
from tasks_app.store.reads.settings.configuration import days_kept, supervisor_settings
from tasks_app.store.reads.settings.retention import list_retained, list_sizes


@require_safe
@never_cache
def supervisor(request: HttpRequest) -> HttpResponse:
    """Show the page, or only what moves in it when htmx asks again."""
    duty, costs, rounds = read_duty(), read_costs(), supervision.read_rounds()
    silent_after = SILENT_BEATS * settings.BEAT_SECONDS
    at, unplaced = supervision.list_unplaced()
    sizes, size = list_sizes()
    context = {
        "duty": duty,
        "silent": duty.last_round_age is None or duty.last_round_age > silent_after,
        "silent_after": silent_after,
        "costs": costs,
        "ceiling": ceiling(costs.task_seconds or 0.0, costs.dispatch_seconds or 0.0),
        "rounds": rounds,
        "most_rounds": max(each.rounds for each in rounds.lengths) or 1,
        "swept": supervision.list_swept(),
        "unplaced_at": at,
        "unplaced": unplaced,
        "shifts": supervision.list_shifts(),
        "hand_overs": supervision.count_hand_overs(),
        "replicas": supervision.list_replicas(),
        "config": supervisor_settings(),
        "retained": list_retained(days_kept()),
        "channels": list_faring(),
        "sizes": sizes,
        "size": size,
        "may_administer": may_administer(request.user),
    }
    part = "live" if request.headers.get("HX-Request") else "supervisor"
    return render(request, f"supervisor/{part}.html", context)
