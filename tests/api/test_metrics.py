"""``/metrics``: the record's figures in Prometheus' format, with few labels."""

from prometheus_client.parser import text_string_to_metric_families

from tasks_app.core.people.scopes import Scope
from tasks_app.models import Kind, Sample
from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, Role
from tests.api.conftest import Program
from tests.floor import Floor


def figures(program: Program) -> dict[tuple[str, ...], float]:
    """Every figure by name and labels."""
    answer = program.client.get("/metrics", headers={"Authorization": f"Bearer {program.token}"})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_the_figures_are_those_of_the_record(program: Program, floor: Floor) -> None:
    floor.worker("w1", slots=2)
    floor.submit(5)
    floor.round()
    grants = floor.claim("w1", limit=2)
    floor.complete("w1", grants[0])
    Sample.objects.create(dispatched=10, dispatch_seconds=0.002, completed=1)
    found = figures(program)
    assert found["chargehand_tasks", "job", "completed"] == 1
    assert found["chargehand_tasks", "job", "running"] == 1
    assert found["chargehand_tasks", "job", "assigned"] == 2
    assert found["chargehand_leases", "assigned"] == 2
    assert found["chargehand_leases", "running"] == 1
    assert found["chargehand_workers", "active"] == 1
    assert found["chargehand_workers", "draining"] == 0
    assert found["chargehand_worker_slots",] == 2
    assert found["chargehand_leader_epoch",] == floor.epoch
    assert found["chargehand_leader_held",] == 1
    assert 0 <= found["chargehand_last_round_age_seconds",] < 60
    assert found["chargehand_oldest_task_age_seconds",] > 0
    assert found["chargehand_busy_seconds_total", "job"] > 0
    assert found["chargehand_dispatch_seconds",] == 0.0002


def test_an_empty_record_has_figures_too(program: Program) -> None:
    found = figures(program)
    assert found["chargehand_oldest_task_age_seconds",] == 0
    assert ("chargehand_last_round_age_seconds",) not in found


def test_many_kinds_do_not_make_many_figures(program: Program, floor: Floor) -> None:
    for n in range(220):
        floor.submit(1, kind=f"kind{n:03}")
    assert Kind.objects.count() > 220
    names = [key for key in figures(program) if key[0] == "chargehand_tasks"]
    assert len(names) == 200


def test_a_strange_name_of_a_kind_stays_a_label(program: Program, floor: Floor) -> None:
    name = 'a"} 1\nchargehand_leader_epoch 99 <script>\\'
    floor.submit(1, kind=name)
    found = figures(program)
    assert found["chargehand_tasks", name, "pending"] == 1
    assert found["chargehand_leader_epoch",] != 99


def test_a_token_for_something_else_is_told_what_it_lacks(program: Program) -> None:
    token = tokens.create("one", Actor("ada", role=Role.ADMIN), scopes=[Scope.READ]).text
    answer = program.client.get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.content) == (
        403,
        b"the token of one lacks the scope metrics\n",
    )
