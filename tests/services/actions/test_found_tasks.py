"""Acts on all that a query finds: frozen in one statement, within a bound."""

from dataclasses import replace

import pytest
from django.db import transaction

from tasks_app.core.actions.bulks import BulkAction, BulkOrder
from tasks_app.core.states import Status
from tasks_app.models import AuditEntry, Bulk, BulkItem, Task
from tasks_app.models.ids import new_id
from tasks_app.services.actions import bulks
from tasks_app.services.actions.bulks import OrderInvalid, begin_on
from tasks_app.services.people.people import Actor
from tasks_app.services.search import found_tasks
from tasks_app.services.search.found_tasks import begin_found, look, read_words
from tasks_app.services.search.task_search import ReadQuery
from tasks_app.store.actions import bulks as store
from tasks_app.store.reads.search import found_sets
from tasks_app.store.reads.search.found_sets import first_found, found_set
from tasks_app.store.reads.search.task_lists import list_tasks
from tests.floor import Floor

OPERATOR = Actor("otto", "10.0.0.7")
CANCEL = BulkOrder(BulkAction.CANCEL, "a mistake")


def words(text: str) -> ReadQuery:
    return read_words(text, sees_payloads=True)


def test_two_orders_without_a_key_are_two_acts(floor: Floor) -> None:
    floor.submit(1)
    begun = [begin_found(CANCEL, words("kind:job"), OPERATOR) for _ in range(2)]
    assert len({bulk.id for bulk in begun if bulk}) == 2


def test_a_filter_cancels_what_it_finds_and_can_still_be_touched(floor: Floor) -> None:
    floor.worker("w1", slots=3, skills={"a": 1.0})
    done, running, assigned = floor.submit(3, kind="a")
    floor.round()
    first, second = floor.claim("w1", 2)
    floor.complete("w1", first)
    floor.kind("a", paused=True)
    (pending,) = floor.submit(kind="a")
    (other,) = floor.submit(kind="b")
    bulk = begin_found(CANCEL, words("kind:a"), OPERATOR)
    assert bulk is not None
    assert bulk.total == 3
    Bulk.objects.update(begins_at=bulk.created_at, look_at=bulk.created_at)
    for _ in range(3):
        floor.round()
    assert floor.status(first.task_id) is Status.COMPLETED
    assert floor.status(other) is Status.PENDING
    assert {floor.status(task) for task in (assigned, pending)} == {Status.CANCELLED}
    assert floor.task(second.task_id).cancel_asked
    assert {done, running} == {first.task_id, second.task_id}
    entry = AuditEntry.objects.earliest("id")
    assert (entry.action, entry.wanted, entry.reason) == ("cancel", "kind:a", "a mistake")


def test_a_dry_run_looks_at_a_bounded_number_and_says_that_there_is_more(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(found_tasks, "LOOKED_AT", 5)
    floor.submit(7)
    found = look(CANCEL.action, words("kind:job").wanted)
    assert (len(found.ids), found.more) == (5, True)


def test_an_act_takes_all_that_a_query_finds_beyond_what_the_dry_run_saw(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(found_tasks, "LOOKED_AT", 5)
    ids = floor.submit(7)
    bulk = begin_found(CANCEL, words("kind:job"), OPERATOR)
    assert bulk is not None
    assert bulk.total == 7
    frozen = BulkItem.objects.order_by("place").values_list("task_id", flat=True)
    assert list(frozen) == ids, "the first submitted first"


def test_more_than_one_act_may_touch_is_refused_with_the_number_and_the_remedy(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor.submit(7)
    found = found_set(words("kind:job").wanted)
    monkeypatch.setattr(bulks, "MOST_FOUND", 6)
    with pytest.raises(OrderInvalid, match=r"more than the 6 tasks .* narrow it down by kind"):
        begin_on(CANCEL, found, OPERATOR, "kind:job")
    assert not Bulk.objects.exists()
    assert not BulkItem.objects.exists()
    assert not AuditEntry.objects.exists()
    monkeypatch.setattr(bulks, "MOST_FOUND", 7)
    assert begin_on(CANCEL, found, OPERATOR, "kind:job")


def test_of_too_many_none_is_written_in_the_first_place(floor: Floor) -> None:
    floor.submit(3)
    found = found_set(words("kind:job").wanted)
    with transaction.atomic():
        bulk = new_id()
        store.open_bulk(bulk, replace(CANCEL, key="k"), actor="otto", wanted="", hold=10)
        assert store.freeze_found(bulk, found, 2, 10).total == 3
        assert not BulkItem.objects.exists()
        transaction.set_rollback(True)


def test_a_search_that_takes_too_long_begins_nothing(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor.submit(1)
    found = found_set(words("kind:job").wanted)
    slow = replace(found, statement=found.statement + " AND pg_sleep(5) IS NOT NULL")
    monkeypatch.setattr(bulks, "FREEZE_SECONDS", 0.05)
    with pytest.raises(OrderInvalid, match="stopped after"):
        begin_on(CANCEL, slow, OPERATOR, "kind:job")
    assert not Bulk.objects.exists()
    monkeypatch.setattr(found_sets, "LOOK_SECONDS", 1)
    with pytest.raises(TimeoutError):
        first_found(slow, 10)


@pytest.mark.parametrize("query", ["kind:job status:pending", "key:k3", "-key:k3 OR kind:b", "k3"])
def test_what_is_frozen_is_what_the_list_shows(floor: Floor, query: str) -> None:
    for number in range(5):
        floor.submit(1, key=f"k{number}")
    floor.submit(2, kind="b")
    listed = {row.id for row in list_tasks(words(query).wanted).rows}
    begin_found(CANCEL, words(query), OPERATOR)
    assert set(BulkItem.objects.values_list("task_id", flat=True)) == listed


def test_an_id_s_beginning_finds_its_task_for_an_act_too(floor: Floor) -> None:
    (task,) = floor.submit(1)
    begin_found(CANCEL, words(str(task)[:13]), OPERATOR)
    assert list(BulkItem.objects.values_list("task_id", flat=True)) == [task]


def test_what_the_asker_may_not_see_is_not_found_by_an_act_either(floor: Floor) -> None:
    floor.kind("job", redacted_keys=["card"])
    (task,) = floor.submit(1)
    Task.objects.filter(id=task).update(payload={"card": "4711"})
    blind = read_words("payload.card:4711", sees_payloads=False)
    assert begin_found(CANCEL, blind, OPERATOR) is None
    assert not Bulk.objects.exists()
    assert begin_found(CANCEL, words("payload.card:4711"), OPERATOR)


@pytest.mark.parametrize(
    ("text", "message"), [("  ", "empty"), ("status:lost", "at character"), ("(", "at character")]
)
def test_a_filter_that_says_nothing_or_is_wrong_touches_nothing(
    floor: Floor, text: str, message: str
) -> None:
    floor.submit(1)
    with pytest.raises(OrderInvalid, match=message):
        begin_found(CANCEL, words(text), OPERATOR)
    assert not Bulk.objects.exists()


def test_an_or_in_a_filter_stays_within_what_it_can_touch(floor: Floor) -> None:
    floor.worker("w1", slots=1)
    floor.submit(1)
    floor.round()
    (grant,) = floor.claim("w1")
    floor.complete("w1", grant)
    floor.submit(1, kind="b")
    found = look(CANCEL.action, words("kind:job OR kind:b").wanted)
    assert [floor.task(task).kind_id for task in found.ids] == ["b"]
