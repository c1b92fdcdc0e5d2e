"""Networks that fall silent between a process and the record, and come back."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tasks_app.core.states import Status
from tasks_app.models import Attempt, Leader, Task, Worker
from tests.faults.conftest import Plant
from tests.faults.network import BOTH, Network, Relay, Way, can_have_namespaces, network
from tests.faults.test_workers import all_done
from tests.waiting import wait_for

CUTTING = ("--handlers", "tests.faults.ticking")
NAMESPACES = can_have_namespaces()
LONG = [
    pytest.mark.slow,
    pytest.mark.skipif(not NAMESPACES, reason="only root can make network namespaces"),
]
KINDS = [pytest.param("namespace"), pytest.param("relay", marks=LONG)]
if not NAMESPACES:
    KINDS = [pytest.param("relay"), pytest.param("namespace", marks=LONG)]


@pytest.fixture(params=KINDS)
def net(request: pytest.FixtureRequest, plant: Plant) -> Iterator[Network]:
    """A network that one process of the plant sits behind."""
    plant.floor.kind("tick", backoff_base_seconds=0.1, max_attempts=5)
    with network(request.param, plant.database) as made:
        yield made


def completed_once(tasks: object) -> None:
    """Each task has exactly one accepted completion."""
    done = Attempt.objects.filter(outcome="completed").values_list("task_id", flat=True)
    assert Counter(done) == dict.fromkeys(tasks, 1)  # type: ignore[call-overload]


def ticks(plant: Plant, name: str) -> list[float]:
    """When a worker's handler was at work, on the machine's monotonic clock."""
    return [float(at) for who, at in map(str.split, plant.lines("ticks")) if who == name]


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(BOTH, id="both ways"),
        pytest.param((Way.OUT,), id="out", marks=pytest.mark.slow),
        pytest.param((Way.BACK,), id="back", marks=pytest.mark.slow),
    ],
)
def test_a_worker_that_is_cut_off_has_stopped_before_another_begins_its_task(
    plant: Plant, net: Network, way: tuple[Way, ...]
) -> None:
    # It stops a tenth of that ahead of its lease: longer than a busy machine stands still.
    plant.floor.settings(stale_after_seconds=5.0)
    plant.supervise()
    first = plant.work("w1", *CUTTING, "--slots", "1", net=net)
    plant.shut()
    (task,) = plant.floor.submit(kind="tick")
    wait_for(lambda: ticks(plant, "w1"), "the first start")
    net.cut(*way)
    plant.work("w2", *CUTTING, "--slots", "1")
    wait_for(lambda: ticks(plant, "w2"), "the second start", 30)
    net.heal()
    plant.open()
    all_done(plant)
    assert plant.floor.attempts(task) == [("worker_lost", "w1"), ("completed", "w2")]
    assert max(ticks(plant, "w1")) < min(ticks(plant, "w2")), "both were at work on it at once"
    assert first.poll() is None, "its handler let go, so it need not end"
    wait_for(lambda: Worker.objects.filter(name="w1", state="active").exists(), "w1 to come back")


def test_a_leader_that_is_cut_off_is_replaced_and_hands_out_nothing_twice(
    plant: Plant, net: Network
) -> None:
    plant.supervise(net=net)
    wait_for(lambda: Leader.objects.get().last_round_at, "the first round")
    plant.work("w1", "--slots", "4")
    tasks = plant.floor.submit(200, kind="step")
    wait_for(lambda: len(plant.lines("effects")) > 10, "the work to be under way")
    net.cut(*BOTH)
    plant.supervise()
    wait_for(lambda: Leader.objects.get().epoch == 2, "the other one to lead", 20)
    all_done(plant)
    net.heal()
    more = plant.floor.submit(50, kind="step")
    all_done(plant)
    completed_once([*tasks, *more])
    assert Leader.objects.get().epoch == 2, "the first one stands by"


def test_a_result_whose_answer_is_lost_is_reported_again_and_counts_once(
    plant: Plant, net: Network
) -> None:
    plant.supervise()
    plant.work("w1", "--slots", "2", net=net)
    plant.shut()
    tasks = plant.floor.submit(2, kind="step")
    wait_for(lambda: len(plant.lines("starts")) == 2, "both to begin")
    net.cut(Way.BACK)
    plant.open()
    wait_for(
        lambda: (
            Task.objects.filter(status=Status.COMPLETED).exists()
            or Attempt.objects.filter(outcome="worker_lost").exists()
        ),
        "the report to arrive, or the worker to be taken for lost",
        30,
    )
    net.heal()
    all_done(plant)
    completed_once(tasks)


@pytest.mark.slow
def test_a_slow_network_makes_work_slow_and_nothing_else(plant: Plant) -> None:
    plant.floor.settings(stale_after_seconds=6.0, heartbeat_seconds=0.5)
    relay = Relay(plant.database, delay=0.1)
    plant.supervise()
    plant.work("w1", "--slots", "2", net=relay)
    tasks = plant.floor.submit(6, kind="step")
    all_done(plant)
    completed_once(tasks)
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"completed"}
    relay.close()
