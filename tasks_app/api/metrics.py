"""``/metrics`` in Prometheus' format, for who has a token with the scope."""

from collections.abc import Iterator

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from ninja.errors import HttpError
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0

from tasks_app.api.security import ProgramToken, headers_of
from tasks_app.core.people.scopes import Scope
from tasks_app.core.states import Status
from tasks_app.store.reads.dispatch.metrics import Metrics, read_metrics

token = ProgramToken(Scope.METRICS)


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures of this instant, read from the record: the same from every web process."""
    try:
        program = token(request)
    except HttpError as refused:
        said, headers = f"{refused.message}\n", headers_of(refused)
        return HttpResponse(said, status=refused.status_code, headers=headers)
    if program is None:
        answer = HttpResponse("send a live token: Authorization: Bearer chg_...\n", status=401)
        answer["WWW-Authenticate"] = "Bearer"
        return answer
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures(read_metrics()))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_1_0_0)


class Figures:
    """One reading as Prometheus' families."""

    def __init__(self, read: Metrics) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Every family, with few labels: kind, status, state."""
        yield from self._tasks()
        yield from self._supervisor()
        read = self._read
        workers = GaugeMetricFamily("chargehand_workers", "Live workers.", labels=["state"])
        for state, count in read.workers.items():
            workers.add_metric([state], count)
        yield workers
        yield GaugeMetricFamily("chargehand_worker_slots", "Slots of live workers.", read.slots)
        leases = GaugeMetricFamily("chargehand_leases", "Leases in flight.", labels=["state"])
        leases.add_metric(["assigned"], read.assigned)
        leases.add_metric(["running"], read.running)
        yield leases

    def _tasks(self) -> Iterator[Metric]:
        read = self._read
        tasks = GaugeMetricFamily(
            "chargehand_tasks", "Tasks by kind and status.", labels=["kind", "status"]
        )
        busy = CounterMetricFamily(
            "chargehand_busy_seconds", "Run time of completed tasks.", labels=["kind"]
        )
        for entry in read.counts:
            tasks.add_metric([entry.kind, entry.status.lower()], entry.count)
            if entry.status == Status.COMPLETED:
                busy.add_metric([entry.kind], entry.busy_seconds)
        yield tasks
        yield busy
        yield GaugeMetricFamily(
            "chargehand_oldest_task_age_seconds",
            "Age of the oldest unfinished task; 0 where there is none.",
            read.oldest_age or 0.0,
        )

    def _supervisor(self) -> Iterator[Metric]:
        duty, costs = self._read.duty, self._read.costs
        yield GaugeMetricFamily("chargehand_leader_epoch", "Rises at every take-over.", duty.epoch)
        yield GaugeMetricFamily(
            "chargehand_leader_held", "1 while somebody holds the leader lease.", int(duty.held)
        )
        if duty.last_round_age is not None:
            yield GaugeMetricFamily(
                "chargehand_last_round_age_seconds",
                "Seconds since the last round on record: judge the supervisor by it.",
                duty.last_round_age,
            )
        if costs.dispatch_seconds is not None:
            yield GaugeMetricFamily(
                "chargehand_dispatch_seconds",
                "D: supervisor seconds per dispatched task, over the last hour.",
                costs.dispatch_seconds,
            )
