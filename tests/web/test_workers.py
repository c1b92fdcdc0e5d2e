"""The workers' list and a worker's page."""

from uuid import uuid4

from pytest_django import DjangoAssertNumQueries

from tasks_app.models import AuditEntry, Worker
from tests.floor import Floor
from tests.web.conftest import Person, died, message_of

# Session, user, groups, rail; live, ended, settings.
LIST_QUERIES = 9
# Session, user, groups, rail; worker, held, recent, boots, settings.
WORKER_QUERIES = 11


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
