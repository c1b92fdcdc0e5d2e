"""The supervisor's page: shifts and hand-overs, rounds, what could not be placed."""

from datetime import timedelta

from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tasks_app.core.dispatch.shifts import ShiftEnd
from tasks_app.models import AlertChannel, AlertDelivery, Pruned, RetentionSettings, Shift, Task
from tasks_app.services.dispatch.sampler import Sampler
from tasks_app.store.dispatch import leader
from tests.floor import Floor
from tests.web.conftest import Person

# Session, user, groups, rail; duty, costs, rounds, unplaced, swept, shifts, hand-overs, replicas,
# settings; what is kept and for how long, what went, sizes; channels.
QUERIES = 20


def sample(floor: Floor, rounds: int = 1) -> None:
    sampler = Sampler()
    for _ in range(rounds):
        sampler.totals.add(floor.round())
    sampler.sample(floor.epoch, 60.0)


def test_a_shift_is_on_record_from_its_take_over_to_its_end(floor: Floor, viewer: Person) -> None:
    leader.free(floor.epoch, ShiftEnd.STOPPED, rounds=7, dispatched=40)
    floor.lead()
    leader.stand_by("the second")
    now, before = viewer.get("supervisor").context["shifts"]
    assert (before.ending, before.rounds, before.dispatched) == ("stopped", 7, 40)
    assert (now.epoch, now.ended_at) == (before.epoch + 1, None)
    html = viewer.text("supervisor")
    assert "told to stop" in html
    assert "the second" in html


def test_a_leader_that_vanished_is_closed_by_the_next_one(floor: Floor, viewer: Person) -> None:
    floor.round()
    last_round = floor.leader().last_round_at
    leader.renew(floor.epoch, 0)
    floor.lead()
    lost = Shift.objects.order_by("id")[0]
    assert lost.ending == ShiftEnd.LOST
    assert lost.ended_at is not None
    assert last_round is not None
    assert lost.ended_at >= last_round
    assert viewer.get("supervisor").context["hand_overs"].lost == 1
    assert leader.free(lost.epoch, rounds=9) is False
    assert Shift.objects.get(id=lost.id).rounds is None, "the late word of the old leader counts"


def test_what_a_round_could_not_place_is_named_with_its_reason(
    floor: Floor, viewer: Person
) -> None:
    floor.settings(backlog=0)
    floor.worker("w1", slots=1)
    floor.submit(3)
    floor.kind("lonely")
    floor.submit(2, kind="lonely")
    sample(floor)
    found = [(u.kind, u.left, u.tasks) for u in viewer.get("supervisor").context["unplaced"]]
    assert found == [("job", "all_busy", 2), ("lonely", "no_capable_worker", 2)]
    html = viewer.text("supervisor")
    assert "No live worker can do it" in html
    assert 'href="/tasks/?q=kind%3Alonely"' in html


def test_the_lengths_of_rounds_are_counted_by_class(floor: Floor, viewer: Person) -> None:
    sample(floor, rounds=3)
    sample(floor, rounds=2)
    rounds = viewer.get("supervisor").context["rounds"]
    assert rounds.rounds == 5
    assert sum(each.rounds for each in rounds.lengths) == 5


def test_minutes_keep_what_sweeps_found(floor: Floor, viewer: Person) -> None:
    floor.worker("w1")
    floor.submit(1)
    floor.round()
    floor.claim("w1")
    floor.silence("w1", 1000)
    sample(floor)
    (minute,) = viewer.get("supervisor").context["swept"]
    assert minute.reclaimed == 1


def test_without_any_round_the_page_says_what_to_do(floor: Floor, viewer: Person) -> None:
    html = viewer.text("supervisor")
    assert "No round was ever recorded" in html
    assert "manage.py supervise" in html


def test_what_is_kept_and_how_large_it_is_stands_on_the_page(floor: Floor, viewer: Person) -> None:
    RetentionSettings.objects.filter(id=1).update(completed_days=30)
    floor.worker("w1")
    floor.submit(1)
    floor.round()
    floor.complete("w1", floor.claim("w1")[0])
    Pruned.objects.create(hour=timezone.now(), what="completed", rows=1234, seconds=1.0)
    shown = viewer.get("supervisor").context
    done = shown["retained"][0]
    assert (done.what, done.days, done.gone) == ("completed", 30, 1234)
    ended = Task.objects.get().finished_at
    assert ended is not None
    assert done.goes_at == ended + timedelta(days=30)
    assert "task" in {each.name for each in shown["sizes"]}
    assert shown["size"] >= sum(each.size for each in shown["sizes"]) > 0
    html = viewer.text("supervisor")
    assert "30 days" in html
    assert ">1,234<" in html


def test_a_channel_that_does_not_answer_stands_on_the_page(floor: Floor, viewer: Person) -> None:
    assert "Alert channels in the admin" in viewer.text("supervisor")
    AlertChannel.objects.create(name="night", kind="mail", address="night@example.org")
    AlertDelivery.objects.create(
        channel_id="night",
        key="off_duty",
        event="began",
        began_at=timezone.now(),
        body={},
        state="given_up",
        fault="it answered 500",
    )
    html = viewer.text("supervisor")
    assert "it answered 500" in html
    assert "night@example.org" not in html, "addresses are for admins"
    (faring,) = viewer.get("supervisor").context["channels"]
    assert (faring.given_up, faring.sent_at) == (1, None)


def test_the_page_asks_a_bounded_number_of_questions(
    floor: Floor, viewer: Person, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    sample(floor)
    with django_assert_max_num_queries(QUERIES):
        viewer.text("supervisor")
