"""What a query finds, on the record."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings

from tasks_app.core.failures.fingerprints import fingerprint_of
from tasks_app.core.intake.search_paths import index_name
from tasks_app.core.masking.redaction import folded
from tasks_app.core.search.queries import AllOf, Match, Node, Not, write
from tasks_app.core.search.query_parsing import LONGEST, parse
from tasks_app.core.search.query_paths import written_path
from tasks_app.models import Kind, Task
from tasks_app.services.actions import operations
from tasks_app.services.intake.search_indexes import sync_search_indexes
from tasks_app.services.people.people import Actor
from tasks_app.store.intake.search_indexes import present_indexes
from tasks_app.store.reads.search import task_lists
from tasks_app.store.reads.search.task_lists import (
    TaskSearch,
    count_newer,
    iterate_pages,
    list_tasks,
    newest_id,
)
from tasks_app.store.reads.search.task_rows import Cursor, Sort
from tests.core.queries_made import TREES
from tests.floor import Floor


def keys(query: str, **search: object) -> set[str]:
    read = parse(query)
    assert read.faults == (), read.faults
    page = list_tasks(TaskSearch(read.node, **search))  # type: ignore[arg-type]
    return {str(row.key) for row in page.rows}


@pytest.fixture
def stocked(floor: Floor) -> Floor:
    """Six tasks, each unlike the others."""
    floor.worker("w1")
    floor.worker("w2", skills={"mail": 1})
    floor.submit(1, key="a-dead")
    floor.round()
    floor.fail("w1", floor.claim("w1")[0], type="lib.ReadTimeout", message="gone", permanent=True)
    floor.submit(1, key="b-done")
    floor.round()
    floor.complete("w1", floor.claim("w1")[0], {"label": "spam", "score": 0.5})
    floor.submit(1, key="c-runs")
    floor.round()
    floor.claim("w1")
    floor.submit(1, kind="mail", key="d-mail", priority=-5)
    floor.submit(1, kind="other", key="e-lock", lock_key="account-7", priority=3)
    floor.submit(1, kind="other", key="f-odd")
    for key, payload in (
        ("d-mail", {"customer": {"id": 42, "name": "Ada 100%"}, "tags": ["x"], "urgent": True}),
        ("e-lock", {"customer": {"id": "42"}, "big": BIG - 1, **ODD_KEYS}),
        ("f-odd", {"customer": {"id": 7}, "big": BIG, "Ticket ID": 7}),
    ):
        Task.objects.filter(key=key).update(payload=payload)
    return floor


BIG = 9007199254740993  # 2**53 + 1, which no double is
ODD_KEYS = {"Ticket ID": "7", "a.b": {"c:d": 1}, "100%": "x", 'say "x"\\': "y", "it's": {"": "z"}}
GONE = fingerprint_of({"type": "lib.ReadTimeout", "message": "gone"}, "permanent").key
ALL = {"a-dead", "b-done", "c-runs", "d-mail", "e-lock", "f-odd"}

CASES = {
    "": ALL,
    "status:dead": {"a-dead"},
    "status:running": {"c-runs"},
    "status:completed OR status:dead": {"a-dead", "b-done"},
    "-status:dead": ALL - {"a-dead"},
    "kind:other": {"e-lock", "f-odd"},
    "kind:other -key:f-odd": {"e-lock"},
    "worker:w1": {"a-dead", "b-done", "c-runs"},
    "-worker:w1": {"d-mail", "e-lock", "f-odd"},
    "error:timeout": {"a-dead"},
    "error:gone": {"a-dead"},
    "-error:gone": ALL - {"a-dead"},
    "key:a-dead": {"a-dead"},
    "key:a*": {"a-dead"},
    "key:a": set(),
    "reason:permanent": {"a-dead"},
    "attempts:>=1": {"a-dead", "b-done", "c-runs"},
    "attempts:0": {"d-mail", "e-lock", "f-odd"},
    "priority:<0": {"d-mail"},
    "priority:>=0 kind:other": {"e-lock", "f-odd"},
    "lock:account-7": {"e-lock"},
    "age:<1h": ALL,
    "age:>1h": set(),
    "created:>=2020-01-01": ALL,
    "created:<2020-01-01": set(),
    "ended:>2020-01-01": {"a-dead", "b-done"},
    "-ended:>2020-01-01": ALL - {"a-dead", "b-done"},
    "duration:<1h": {"a-dead", "b-done", "c-runs"},
    "payload.customer.id:42": {"d-mail", "e-lock"},
    "payload.customer.id:>10": {"d-mail"},
    "payload.customer.id:<=7": {"f-odd"},
    'payload.customer.name:"Ada 100%"': {"d-mail"},
    "payload.urgent:true": {"d-mail"},
    "payload.tags.0:x": {"d-mail"},
    "-payload.customer.id:42": ALL - {"d-mail", "e-lock"},
    "payload:Ada": {"d-mail"},
    f"payload.big:<{BIG}": {"e-lock"},
    f"payload.big:>={BIG}": {"f-odd"},
    f"payload.big:>{BIG - 1}": {"f-odd"},
    f"payload.big:{BIG}": {"f-odd"},
    f"payload.big:<{BIG}.5": {"e-lock", "f-odd"},
    "payload.big:>9007199254740992.5": {"f-odd"},
    "payload.big:<9.007199254740993e15": {"e-lock"},
    f"payload.big:<{'1' * 200}": {"e-lock", "f-odd"},
    'payload."Ticket ID":7': {"e-lock", "f-odd"},
    'payload."Ticket ID":>=7': {"f-odd"},
    '-payload."Ticket ID":7': ALL - {"e-lock", "f-odd"},
    'payload."a.b"."c:d":1': {"e-lock"},
    'payload."a.b"."c:d":<2': {"e-lock"},
    'payload."100%":x': {"e-lock"},
    r'payload."say \"x\"\\":y': {"e-lock"},
    'payload."it\'s"."":z': {"e-lock"},
    "result.label:spam": {"b-done"},
    "result.score:>0.4": {"b-done"},
    "result:spam": {"b-done"},
    '"Ada 100%"': {"d-mail"},
    '"Ada 100_"': set(),
    "timeout OR ada": {"a-dead", "d-mail"},
    "kind:other (key:f* OR lock:account-7)": {"e-lock", "f-odd"},
    "-(kind:other OR kind:mail)": {"a-dead", "b-done", "c-runs"},
    "requeues:>0": set(),
    f"cause:{GONE.upper()}": {"a-dead"},
    f"-cause:{GONE}": ALL - {"a-dead"},
    "cause:none": ALL - {"a-dead"},
    "status:dead cause:0000000000000000": set(),
    "job:nobody": set(),
}


def test_each_query_finds_exactly_the_tasks_that_it_names(stocked: Floor) -> None:
    found = {query: keys(query) for query in CASES}
    assert found == CASES


def test_an_id_is_found_in_full_and_by_its_beginning(stocked: Floor) -> None:
    task = Task.objects.get(key="d-mail")
    assert keys(f"id:{task.id}") == {"d-mail"}
    assert "d-mail" in keys(f"id:{str(task.id)[:30]}")


def test_every_query_or_its_denial_finds_a_task_and_never_both(stocked: Floor) -> None:
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
    @given(TREES)
    def rule(tree: Node) -> None:
        text = write(tree)
        if len(text) > LONGEST:
            return
        finds = {str(row.key) for row in list_tasks(TaskSearch(tree)).rows}
        denies = {str(row.key) for row in list_tasks(TaskSearch(Not(tree))).rows}
        assert finds | denies == ALL, text
        assert not finds & denies, text

    rule()


@pytest.mark.parametrize("sort", list(Sort))
@pytest.mark.parametrize("backwards", [False, True])
def test_pages_in_every_order_join_without_a_gap_or_an_overlap(
    floor: Floor, sort: Sort, backwards: bool
) -> None:
    for priority in (3, -1, 3, 0, 3, 0):
        floor.submit(1, priority=priority)
    search = TaskSearch(sort=sort, backwards=backwards)
    pages, after = [], None
    while True:
        page = list_tasks(search, after, most=2)
        pages.append([row.id for row in page.rows])
        after = page.next
        if after is None:
            break
    joined = [task for page in pages for task in page]
    assert joined == [row.id for row in list_tasks(search).rows]
    assert len(set(joined)) == 6
    if sort is Sort.PRIORITY:
        priorities = [row.priority for row in list_tasks(search).rows]
        assert priorities == sorted(priorities, reverse=not backwards)
    back = list_tasks(search, before=Cursor.of(list_tasks(search).rows[4]), most=2)
    assert [row.id for row in back.rows] == joined[2:4]


@pytest.mark.parametrize("backwards", [False, True])
def test_what_never_ran_comes_last_whether_the_longest_or_the_shortest_is_wanted(
    floor: Floor, backwards: bool
) -> None:
    floor.worker("w1")
    ran = floor.submit(2)
    for _ in ran:
        floor.round()
        for grant in floor.claim("w1"):
            floor.complete("w1", grant)
    never = floor.submit(2, kind="later")
    search = TaskSearch(sort=Sort.DURATION, backwards=backwards)
    first = list_tasks(search, most=2)
    assert {row.id for row in first.rows} == set(ran)
    assert {row.id for row in list_tasks(search, after=first.next, most=2).rows} == set(never)


def test_another_order_says_that_it_looked_at_the_newest_only(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_lists, "LOOKED_AT", 3)
    (old,) = floor.submit(1, priority=9)
    floor.submit(4)
    page = list_tasks(TaskSearch(sort=Sort.PRIORITY))
    assert old not in [row.id for row in page.rows]
    assert page.stopped_at is not None
    assert page.looked_at == 3


def test_new_tasks_wait_behind_their_number(floor: Floor) -> None:
    first = floor.submit(2)
    search = TaskSearch(parse("kind:job").node, upto=newest_id())
    floor.submit(3)
    floor.submit(2, kind="other")
    assert [row.id for row in list_tasks(search).rows] == first[::-1]
    assert count_newer(search) == 3


def test_all_that_match_are_read_window_after_window(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_lists, "LOOKED_AT", 4)
    rare = floor.submit(1, kind="rare") + floor.submit(9)[:0] + floor.submit(1, kind="rare")
    floor.submit(9)
    rare_ones = TaskSearch(parse("kind:rare").node)
    rows = [row for page in iterate_pages(rare_ones) for row in page.rows]
    assert [row.id for row in rows] == rare[::-1]
    assert sum(len(page.rows) for page in iterate_pages(TaskSearch(), 5, page=2)) == 5


def test_what_one_may_not_see_is_not_found_by_guessing(stocked: Floor) -> None:
    Task.objects.filter(key="d-mail").update(payload={"card": {"no": 42}, "name": "Ada"})
    hidden = {"mail": folded(["card"])}
    for query in ("payload.card.no:42", "payload.card.no:>1", "payload:42", "42", "Ada"):
        assert keys(query, hidden={}) >= {"d-mail"}, query
        assert "d-mail" not in keys(query, hidden=hidden), query
    assert "d-mail" not in keys('payload.card:"{\\"no\\": 42}"', hidden=hidden)
    assert keys("payload.name:Ada", hidden=hidden) == {"d-mail"}


@pytest.fixture
def indexed(floor: Floor) -> Iterator[Floor]:
    """A kind with a searchable path, its index made; the index is gone after the test."""
    floor.kind("mail", searchable_paths=["payload.customer.id"])
    assert sync_search_indexes() == (1, 0)
    yield floor
    Kind.objects.update(searchable_paths=[])
    sync_search_indexes()


def test_a_declared_path_is_found_by_its_index_however_old_the_task(
    indexed: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_lists, "SEARCHED", 3)
    (old,) = indexed.submit(1, kind="mail")
    Task.objects.filter(id=old).update(payload={"customer": {"id": 42}})
    indexed.submit(9, kind="mail")
    paths = {"mail": ("payload.customer.id",)}
    query = parse("kind:mail payload.customer.id:42").node
    page = list_tasks(TaskSearch(query, paths=paths))
    assert [row.id for row in page.rows] == [old]
    assert page.indexed == "payload.customer.id"
    without = list_tasks(TaskSearch(query))
    assert not without.rows
    assert without.stopped_at is not None, "it says that it looked at the newest only"


def test_those_dead_of_one_cause_are_found_however_old_they_are(
    stocked: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_lists, "LOOKED_AT", 3)
    (old,) = Task.objects.filter(key="a-dead").values_list("id", flat=True)
    operations.requeue([old], Actor("otto"))
    stocked.submit(9)
    assert keys(f"cause:{GONE}") == {"a-dead"}, "whatever became of it since"
    assert keys(f"status:pending cause:{GONE}") == {"a-dead"}


def plan_of(query: str, **search: object) -> str:
    """How the statement that a list sends is read."""
    with CaptureQueriesContext(connection) as asked:
        keys(query, **search)
    (sent,) = [each["sql"] for each in asked if "AS place" in each["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sent}")
        return "\n".join(line for (line,) in cursor.fetchall())


def test_the_plan_of_a_cause_is_its_index(floor: Floor) -> None:
    floor.submit(300)
    plan = plan_of(f"cause:{GONE}")
    assert "task_alike" in plan, plan


def test_the_plan_of_a_declared_path_is_its_index(indexed: Floor) -> None:
    indexed.submit(300, kind="mail")
    paths = {"mail": ("payload.customer.id",)}
    plan = plan_of("kind:mail payload.customer.id:42", paths=paths)
    assert index_name("mail", "payload.customer.id") in plan, plan


@pytest.mark.parametrize("keys", [("Ticket ID",), ("a.b", 'say "x"'), ("100%",), ("it's \\", "{}")])
def test_a_path_of_any_keys_has_an_index_and_is_found_by_it(
    floor: Floor, keys: tuple[str, ...]
) -> None:
    path = written_path("payload", keys)
    floor.kind("50% mail", searchable_paths=[path])
    assert sync_search_indexes() == (1, 0)
    floor.submit(300, kind="50% mail")
    (task,) = floor.submit(1, kind="50% mail")
    payload: object = 7
    for key in reversed(keys):
        payload = {key: payload}
    Task.objects.filter(id=task).update(payload=payload)
    query, paths = f'kind:"50% mail" {path}:7', {"50% mail": (path,)}
    page = list_tasks(TaskSearch(parse(query).node, paths=paths))
    assert ([row.id for row in page.rows], page.indexed) == ([task], path)
    assert index_name("50% mail", path) in plan_of(query, paths=paths)
    Kind.objects.update(searchable_paths=[])
    assert sync_search_indexes() == (0, 1)


def test_a_value_too_long_for_an_index_can_be_submitted_and_found(indexed: Floor) -> None:
    long = "x" * 50_000
    (task,) = indexed.submit(1, kind="mail")
    Task.objects.filter(id=task).update(payload={"customer": {"id": long}})
    node = Match("payload", long, path=("customer", "id"))
    found = list_tasks(
        TaskSearch(AllOf((Match("kind", "mail"), node)), paths={"mail": ("payload.customer.id",)})
    )
    assert [row.id for row in found.rows] == [task]


def test_an_index_goes_when_its_path_is_no_longer_declared(indexed: Floor) -> None:
    Kind.objects.filter(name="mail").update(searchable_paths=["payload.to"])
    assert sync_search_indexes() == (1, 1)
    assert set(present_indexes()) == {index_name("mail", "payload.to")}
    assert sync_search_indexes() == (0, 0)
