"""The list of tasks."""

import re
from urllib.parse import parse_qs
from uuid import UUID

import pytest
from django.core.cache import cache
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from tasks_app.core.search.query_parsing import parse
from tasks_app.models import Task
from tasks_app.store.reads.search import task_conditions, task_lists
from tasks_app.store.reads.search.task_lists import TaskSearch, list_tasks
from tests.floor import Floor
from tests.web.conftest import Person, died

# Session, user, groups, rail; statement timeout in a transaction (4), rows, end of the window,
# rollup, kinds, workers.
LIST_QUERIES = 15


def shown(html: str) -> list[UUID]:
    return [UUID(found) for found in re.findall(r'<tr data-id="([^"]+)"', html)]


def test_tasks_are_listed_newest_first(floor: Floor, viewer: Person) -> None:
    ids = floor.submit(3)
    assert shown(viewer.text("tasks")) == ids[::-1]


def test_pages_join_without_a_gap_or_an_overlap(
    floor: Floor, viewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_lists, "PAGE", 3)
    ids = floor.submit(8)[::-1]
    first = list_tasks(TaskSearch())
    second = list_tasks(TaskSearch(), after=first.next)
    third = list_tasks(TaskSearch(), after=second.next)
    pages = [[row.id for row in page.rows] for page in (first, second, third)]
    assert pages == [ids[:3], ids[3:6], ids[6:]]
    assert first.previous is None
    assert third.next is None
    back = list_tasks(TaskSearch(), before=third.previous)
    assert [row.id for row in back.rows] == ids[3:6]
    assert back.next is not None
    assert back.next.id == ids[5]
    top = list_tasks(TaskSearch(), before=back.previous)
    assert [row.id for row in top.rows] == ids[:3]
    assert top.previous is None


@pytest.mark.parametrize("status", ["PENDING", "ASSIGNED", "RUNNING", "DEAD", "COMPLETED"])
def test_each_status_shows_its_own_tasks_only(floor: Floor, viewer: Person, status: str) -> None:
    by_status = {}
    floor.worker("w1", slots=10)
    by_status["DEAD"] = died(floor, "w1")
    (by_status["COMPLETED"],) = floor.submit(1)
    floor.round()
    floor.complete("w1", floor.claim("w1")[0], {"label": "ok"})
    (by_status["RUNNING"],) = floor.submit(1)
    floor.round()
    floor.claim("w1")
    (by_status["ASSIGNED"],) = floor.submit(1)
    floor.round()
    (by_status["PENDING"],) = floor.submit(1)
    assert shown(viewer.text("tasks", q=f"status:{status.lower()}")) == [by_status[status]]


def test_the_worker_filter_finds_what_it_holds_and_what_it_held(
    floor: Floor, viewer: Person
) -> None:
    floor.worker("w1")
    floor.worker("w2", skills={"other": 1})
    held = died(floor, "w1")
    (holds,) = floor.submit(1)
    floor.round()
    floor.submit(1, kind="other")
    assert shown(viewer.text("tasks", q="worker:w1")) == [holds, held]
    assert shown(viewer.text("tasks", q="worker:w2")) == []


@pytest.mark.parametrize("text", ["ticket-4711", "t-4711", "4711", "is missing", "validationerr"])
def test_text_is_found_in_key_error_and_payload(floor: Floor, viewer: Person, text: str) -> None:
    floor.worker("w1")
    task = died(floor, "w1", message="payload.text is missing", key="ticket-4711")
    Task.objects.filter(id=task).update(payload={"ref": "t-4711"})
    floor.submit(2)
    assert shown(viewer.text("tasks", q=text)) == [task]


def test_text_takes_no_wildcards(floor: Floor, viewer: Person) -> None:
    floor.submit(1, key="a%b")
    floor.submit(1, key="axb")
    assert len(shown(viewer.text("tasks", q="a%b"))) == 1
    assert shown(viewer.text("tasks", q="\\")) == []


def test_text_is_sought_within_the_other_filters(floor: Floor, viewer: Person) -> None:
    floor.submit(1, kind="job", key="same")
    (other,) = floor.submit(1, kind="other", key="same")
    assert shown(viewer.text("tasks", q="same kind:other")) == [other]


def test_the_beginning_of_an_id_finds_its_task(floor: Floor, viewer: Person) -> None:
    ids = floor.submit(3)
    assert ids[1] in shown(viewer.text("tasks", q=str(ids[1])[:30]))


def test_a_full_id_leads_straight_to_its_task(floor: Floor, viewer: Person) -> None:
    (task,) = floor.submit(1)
    response = viewer.get("tasks", q=str(task))
    assert response.status_code == 302
    assert str(task) in response["Location"]


def test_a_rare_match_stops_at_the_bound_and_says_where_to_go_on(
    floor: Floor, viewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_lists, "LOOKED_AT", 4)
    (old,) = floor.submit(1, kind="rare")
    ids = floor.submit(9)
    html = viewer.text("tasks", q="kind:rare")
    assert shown(html) == []
    assert "Look further back" in html
    wanted = TaskSearch(parse("kind:rare").node)
    page = list_tasks(wanted)
    assert page.next is not None
    assert page.next.id == ids[-4]
    further = list_tasks(wanted, after=page.next)
    last = list_tasks(wanted, after=further.next)
    assert [row.id for row in last.rows] == [old]
    assert last.stopped_at is None


def test_an_old_task_is_found_by_key_and_id_beyond_the_bound(
    floor: Floor, viewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_lists, "SEARCHED", 4)
    (old,) = floor.submit(1, key="the-old-one")
    floor.submit(9)
    assert shown(viewer.text("tasks", q="the-old-one")) == [old]
    assert shown(viewer.text("tasks", q=str(old)[:34])) == [old]


def test_a_search_that_takes_too_long_is_stopped_and_says_so(
    floor: Floor, viewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor.submit(1)
    monkeypatch.setattr(task_conditions, "HAS_TEXT", "pg_sleep(30) IS NULL")
    monkeypatch.setattr(task_lists, "SEARCH_SECONDS", 1)
    assert "The search was stopped" in viewer.text("tasks", q="anything")
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


@pytest.mark.parametrize(
    "query",
    [
        {"q": "status:nonsense"},
        {"before": "x", "after": "y", "upto": "z"},
        {"after": "01920000-0000-7000-8000-000000000000~nan"},
        {"q": "kind:%s%(x)s{}"},
        {"q": "payload.%(x)s:{} payload.a:%s{}"},
        {"q": 'worker:"\'; DROP TABLE task; --"'},
        {"sort": "nonsense", "cols": "x,y"},
        {"sort": "-duration", "cols": "lock,job"},
        {"q": "\\'\"%_"},
        {"q": "x" * 5000},
    ],
)
def test_any_address_is_answered(floor: Floor, viewer: Person, query: dict[str, str]) -> None:
    floor.submit(1)
    assert viewer.get("tasks", **query).status_code == 200


def test_a_query_that_no_text_may_hold_is_refused(floor: Floor, viewer: Person) -> None:
    assert viewer.get("tasks", q="a\x00b").status_code == 400


def test_htmx_gets_the_table_alone(floor: Floor, viewer: Person) -> None:
    floor.submit(1)
    html = viewer.part("tasks")
    assert "<html" not in html
    assert len(shown(html)) == 1


def test_the_tabs_count_by_the_rollup_and_by_the_kind(floor: Floor, viewer: Person) -> None:
    floor.submit(3)
    floor.submit(2, kind="other")
    tabs = {tab.status: tab.count for tab in viewer.get("tasks", q="kind:other").context["tabs"]}
    assert tabs[""] == tabs["PENDING"] == 2
    assert viewer.get("tasks", q="x").context["tabs"][0].count is None


def test_the_list_asks_a_bounded_number_of_questions(
    floor: Floor, viewer: Person, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    floor.submit(60)
    cache.clear()
    with django_assert_max_num_queries(LIST_QUERIES):
        viewer.text("tasks", q="status:pending")


def test_what_handlers_and_submitters_wrote_stays_text(floor: Floor, operator: Person) -> None:
    nasty = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
    floor.worker("w1", skills={nasty: 1})
    task = died(floor, "w1", message=nasty, kind=nasty, key=nasty)
    for html in (
        operator.text("tasks"),
        operator.text("task", task),
        operator.text("dead_letters"),
        operator.text("requeue", id=task),
        operator.text("workers"),
    ):
        assert "<img" not in html
        assert "<script>" not in html
        assert "&lt;img" in html


def test_alternatives_are_chips_of_their_own(floor: Floor, viewer: Person) -> None:
    floor.kind("job")
    query = "status:dead kind:job OR key:a OR -priority:<0"
    chips = viewer.get("tasks", q=query).context["chips"]
    assert [chip.label for chip in chips] == ["status:dead kind:job", "key:a", "-priority:<0"]
    rest = parse_qs(chips[1].without.removeprefix("?"))["q"][0]
    assert rest == "status:dead kind:job OR -priority:<0"
    assert viewer.part("tasks", q=query).count("<code>OR</code>") == 2
    both = viewer.get("tasks", q="status:dead kind:job").context["chips"]
    assert [chip.either for chip in both] == [False, False]


def test_what_a_list_is_sorted_by_is_shown_though_no_such_column_was_chosen(
    floor: Floor, viewer: Person
) -> None:
    floor.submit(1)

    def keys(**query: str) -> list[str]:
        return [each.key for each in viewer.get("tasks", **query).context["headings"]]

    assert keys(sort="-duration", cols="status,task") == ["status", "task", "duration"]
    assert "priority" in keys(sort="priority")
    assert "priority" not in keys()
    assert keys(cols="status,task") == ["status", "task"]
    assert (
        "cols="
        not in viewer.text("tasks", sort="priority").partition("<tbody")[0].partition("<thead")[2]
    ), "the choice itself stays as it was"


def test_a_path_without_an_index_says_how_it_is_searched(floor: Floor, viewer: Person) -> None:
    floor.kind("job", searchable_paths=["payload.customer.id"])
    floor.submit(1, key=None)

    def said(query: str) -> str:
        return " ".join(viewer.text("tasks", q=query).split())

    assert "<code>payload.n</code> has no index: it is compared" in said("kind:job payload.n:3")
    both = said("kind:job payload.n:3 -result.label:spam")
    assert "<code>payload.n</code>, <code>result.label</code> have no index" in both
    indexed = said("kind:job payload.customer.id:42 payload.n:3")
    assert "Found by the index of <code>payload.customer.id</code>" in indexed
    assert "<code>payload.n</code> has no index" in indexed
    advised = said("payload.customer.id:42")
    assert "name the kind" in advised
    assert "has no index" not in advised
