"""The workers' list and a worker's page."""

import re
from urllib.parse import parse_qs
from uuid import uuid4

import pytest
from pytest_django import DjangoAssertNumQueries

from tasks_app.core.states import Status, WorkerState
from tasks_app.models import AuditEntry, Worker
from tasks_app.sdk.link import WorkerUnknown
from tasks_app.services.dispatch.sampler import Sampler
from tasks_app.store.reads.fleet import worker_lists
from tests.floor import Floor
from tests.web.conftest import Person, died, message_of

# Session, user, groups, rail; live, ended, settings.
LIST_QUERIES = 9
# Session, user, groups, rail; worker, held, strip, kinds, casualties, near misses, versions,
# recent, boots, settings, what kinds hide.
WORKER_QUERIES = 17


def test_a_live_worker_shows_what_it_can_do_and_holds(floor: Floor, viewer: Person) -> None:
    floor.worker("w1", slots=3, skills={"job": 2.5, "draft_reply": 1})
    floor.submit(2)
    floor.round()
    html = " ".join(viewer.text("workers").split())
    assert "draft_reply" in html
    assert "\N{MULTIPLICATION SIGN} 2.5" in html
    (worker,) = viewer.get("workers").context["live"]
    assert (worker.active, worker.running, worker.slots) == (2, 0, 3)


def test_drain_and_resume_are_audited_and_told(floor: Floor, operator: Person) -> None:
    worker = floor.worker("w1")
    response = operator.post("drain", worker)
    assert "It drains" in message_of(response)
    assert "Resume" in response.content.decode()
    assert "Nothing changed" in message_of(operator.post("drain", worker))
    assert "takes work again" in message_of(operator.post("resume", worker))
    assert not Worker.objects.get(id=worker).drain_asked
    assert list(AuditEntry.objects.order_by("id").values_list("action", flat=True)) == [
        "drain",
        "resume",
    ]


def test_a_viewer_may_not_drain(floor: Floor, viewer: Person) -> None:
    worker = floor.worker("w1")
    assert viewer.post("drain", worker).status_code == 403
    assert not Worker.objects.get(id=worker).drain_asked
    assert "Drain" not in viewer.text("workers")


def test_getting_a_drain_changes_nothing(floor: Floor, operator: Person) -> None:
    worker = floor.worker("w1")
    assert operator.get("drain", worker).status_code == 405
    assert not Worker.objects.get(id=worker).drain_asked


def test_an_ended_boot_is_kept_apart(floor: Floor, viewer: Person) -> None:
    first = floor.worker("w1")
    second = floor.worker("w1")
    context = viewer.get("workers").context
    assert [worker.id for worker in context["live"]] == [second]
    assert [boot.id for boot in context["ended"]] == [first]
    assert "It has ended" in viewer.text("worker", first)


def test_a_worker_shows_its_leases_and_its_attempts(floor: Floor, viewer: Person) -> None:
    worker = floor.worker("w1")
    died(floor, "w1", key="the-dead-one")
    floor.submit(1, key="the-running-one")
    floor.round()
    floor.claim("w1")
    html = viewer.text("worker", worker)
    assert "the-dead-one" in html
    assert "the-running-one" in html
    assert 'href="/tasks/?q=worker%3Aw1"' in html, "more than are looked for here"


def test_a_worker_that_holds_more_than_is_shown_leads_to_all_of_it(
    floor: Floor, viewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_lists, "MOST_LEASES", 1)
    worker = floor.worker("w1", slots=3)
    floor.submit(3)
    floor.round()
    html = viewer.text("worker", worker)
    assert "The first 1 of 3 are shown." in " ".join(html.split())
    query = parse_qs(re.findall(r'href="/tasks/\?(q=worker[^"]+)">Show them all', html)[0])["q"][0]
    assert viewer.text("tasks", q=query).count("<tr data-id") == 3


def test_an_unknown_worker_is_said_to_be_so(viewer: Person) -> None:
    assert viewer.get("worker", uuid4()).status_code == 404


def test_the_pages_ask_a_bounded_number_of_questions(
    floor: Floor, operator: Person, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    workers = [floor.worker(f"w{n}") for n in range(5)]
    floor.submit(5)
    floor.round()
    with django_assert_max_num_queries(LIST_QUERIES):
        operator.text("workers")
    with django_assert_max_num_queries(WORKER_QUERIES):
        operator.text("worker", workers[0])


def test_an_evicted_worker_loses_all_it_holds_at_once_and_at_no_cost(
    floor: Floor, operator: Person
) -> None:
    worker = floor.worker("w1", slots=2)
    ids = floor.submit(3)
    floor.round()
    grants = floor.claim("w1", 1)
    response = operator.get("evict", worker)
    html = " ".join(response.content.decode().split())
    assert "3 tasks" in html
    assert "1 of them running" in html
    assert operator.post("evict", worker).status_code == 422
    assert "3 of its tasks" in message_of(operator.post("evict", worker, because="it hangs"))
    assert {floor.status(task) for task in ids} == {Status.PENDING}
    assert {floor.task(task).attempts for task in ids} == {0}
    assert floor.complete("w1", grants[0]) == [grants[0].token], "its word no longer counts"
    with pytest.raises(WorkerUnknown):
        floor.beat("w1")
    assert "Nothing changed" in message_of(operator.post("evict", worker, because="again"))
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.reason) == ("evict", "it hangs")
    floor.assert_invariants()


def test_a_viewer_may_not_evict(floor: Floor, viewer: Person) -> None:
    worker = floor.worker("w1")
    assert viewer.post("evict", worker, because="x").status_code == 403
    assert Worker.objects.get(id=worker).state == WorkerState.ACTIVE
    assert "Evict" not in viewer.text("worker", worker)


def test_a_kind_is_measured_against_the_peers(floor: Floor, viewer: Person) -> None:
    for name in ("w1", "w2"):
        floor.worker(name, slots=10)
        floor.submit(10)
        floor.round()
        for n, grant in enumerate(floor.claim(name)):
            if name == "w1" and n < 5:
                floor.fail(name, grant, permanent=True)
            else:
                floor.complete(name, grant)
        Worker.objects.update(drain_asked=True)
    (kind,) = viewer.get("worker", floor.workers["w1"]).context["kinds"]
    assert (kind.kind, kind.attempts, kind.failed) == ("job", 10, 5)
    assert (kind.peers_attempts, kind.peers_failed) == (10, 0)
    assert kind.failing
    assert "fails more often" in viewer.text("worker", floor.workers["w1"])


def test_casualties_and_near_misses_are_listed(floor: Floor, viewer: Person) -> None:
    worker = floor.worker("w1", slots=2)
    floor.submit(1, key="the-lost-one")
    floor.round()
    (grant,) = floor.claim("w1")
    floor.silence("w1", 80)
    floor.beat("w1", grant)
    floor.silence("w1", 1000)
    floor.round()
    context = viewer.get("worker", worker).context
    (casualty,) = context["casualties"]
    assert (casualty.key, casualty.outcome) == ("the-lost-one", "worker_lost")
    (near,) = context["near_misses"]
    assert 79 < near.silent_seconds < 90


def test_the_strip_shows_the_share_of_busy_slots_and_its_gaps(floor: Floor, viewer: Person) -> None:
    worker = floor.worker("w1", slots=4)
    floor.submit(3)
    floor.round()
    Sampler().sample(floor.epoch, 60.0)
    strip = viewer.get("worker", worker).context["strip"]
    assert len(strip) == 60
    assert [minute.share for minute in strip if minute.share is not None] == [0.75]


def test_a_worker_tells_its_version_and_its_peers_do(floor: Floor, viewer: Person) -> None:
    worker = floor.worker("w1")
    floor.worker("w2")
    Worker.objects.filter(id=worker).update(version="release-1.4.2")
    html = " ".join(viewer.text("worker", worker).split())
    assert "release-1.4.2" in html
    assert "1 other runs one that is not told" in html


def test_of_workers_without_a_version_nobody_says_that_they_run_the_same(
    floor: Floor, viewer: Person
) -> None:
    worker = floor.worker("w1")
    floor.worker("w2")
    html = " ".join(viewer.text("worker", worker).split())
    assert "none told" in html
    assert "1 other tells none either" in html
    assert "runs it too" not in html
