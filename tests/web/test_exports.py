"""Every list as a file: its columns, its filter, sent without a bound, safe in a spreadsheet."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tasks_app.core.actions.bulks import BulkAction, BulkOrder
from tasks_app.core.drawing.tables import csv_text, json_text
from tasks_app.models import Bulk, LateResult, NearMiss, Task, Worker
from tasks_app.services.actions import bulks
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor
from tasks_app.store.reads.attempts import ledgers
from tasks_app.store.reads.jobs import job_lists
from tasks_app.store.reads.search import task_lists
from tasks_app.store.reads.search.task_rows import TaskPage
from tests.people import PeopleFloor
from tests.web.conftest import Person, died, person

EVIL = '=HYPERLINK("http://x","y")'

LISTS: Mapping[str, frozenset[str]] = {
    "export_tasks": frozenset({"id", "kind", "status", "key", "worker", "error", "dead_reason"}),
    "export_late": frozenset({"task_id", "kind", "worker", "token_held", "overlap_seconds"}),
    "export_causes": frozenset({"key", "line", "tasks", "kinds", "assigned_to", "version"}),
    "export_jobs": frozenset({"id", "name", "status", "steps", "dead", "seconds"}),
    "export_workers": frozenset({"id", "name", "slots", "state", "version"}),
    "export_boots": frozenset({"id", "name", "host", "state", "ended_at"}),
    "export_near_misses": frozenset({"at", "worker", "silent_seconds", "stale_after_seconds"}),
    "export_kinds": frozenset({"name", "paused", "waiting", "dead", "workers"}),
    "export_shifts": frozenset({"epoch", "holder", "began_at", "ending"}),
    "export_inbox": frozenset({"id", "kind", "step", "person", "held_until"}),
    "export_bulks": frozenset({"id", "action", "state", "total", "moved", "reason", "wanted"}),
    "export_bulk": frozenset({"place", "task_id", "state", "why", "status"}),
    "audit_export": frozenset({"id", "at", "actor", "action", "reason", "wanted", "digest"}),
}


@pytest.fixture
def floor(record: None) -> PeopleFloor:
    """A floor with something in every list."""
    floor = PeopleFloor()
    floor.lead()
    floor.worker("w1", slots=9, skills={"job": 1, "other": 1})
    died(floor, "w1")
    died(floor, "w1", message="of another cause", kind="other")
    floor.people_do()
    floor.submit(1, key=EVIL)
    floor.job([{"name": "first", "kind": "job", "payload": {}}], name="nightly")
    floor.submit(1, kind="review")
    note(Actor("otto"), "dismiss", "one task", reason=EVIL)
    gone = floor.worker("old")
    Worker.objects.filter(id=gone).update(state="stopped", ended_at=datetime.now(UTC))
    NearMiss.objects.create(
        worker_id=floor.workers["w1"], leases=1, silent_seconds=80, stale_after_seconds=90
    )
    task = Task.objects.first()
    assert task is not None
    LateResult.objects.create(
        task_id=task.id, worker_id=floor.workers["w1"], token_held=1, outcome="completed"
    )
    order = BulkOrder(BulkAction.PRIORITY, EVIL, priority=3)
    bulks.begin(order, list(Task.objects.values_list("id", flat=True)), Actor("otto"))
    return floor


def address(name: str) -> str:
    args = [Bulk.objects.get().id] if name == "export_bulk" else []
    return reverse(f"web:{name}", args=args)


def text_of(client: Client, name: str, **query: Any) -> str:
    answer: Any = client.get(address(name), query)
    assert answer.status_code == 200
    assert answer.streaming, "it is sent while it is read"
    return b"".join(answer.streaming_content).decode()


def rows_of(client: Client, name: str, **query: Any) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(text_of(client, name, **query))))


@pytest.mark.parametrize("name", sorted(LISTS))
def test_a_list_is_exported_as_csv_and_as_json_lines(
    floor: PeopleFloor, viewer: Person, name: str
) -> None:
    as_csv = rows_of(viewer.client, name)
    as_json = [
        json.loads(line) for line in text_of(viewer.client, name, format="json").split("\n")[:-1]
    ]
    assert as_csv, "there is something in it"
    assert LISTS[name] <= as_csv[0].keys()
    assert [list(row) for row in as_json] == [list(row) for row in as_csv]
    answer = viewer.client.get(address(name), {"format": "json"})
    assert answer["Content-Type"] == "application/x-ndjson"
    assert answer["Content-Disposition"].endswith('.jsonl"')


@pytest.mark.parametrize("name", sorted(LISTS))
def test_a_file_is_for_those_who_are_logged_in(
    floor: PeopleFloor, client: Client, name: str
) -> None:
    answer = client.get(address(name))
    assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/login/")


@pytest.mark.parametrize("name", sorted(LISTS))
def test_no_cell_of_a_file_is_run_by_a_spreadsheet(
    floor: PeopleFloor, viewer: Person, name: str
) -> None:
    for row in rows_of(viewer.client, name):
        for cell in row.values():
            assert not cell.startswith(("=", "+", "@", "\t", "\r")), cell


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_cell_that_begins_like_a_formula_is_made_text(start: str) -> None:
    columns = {"name": lambda row: row}
    text = csv_text(columns, [f"{start}1+1"], headings=False)
    assert next(csv.reader(io.StringIO(text, newline="")))[0].startswith("'")
    assert json.loads(json_text(columns, f"{start}1+1")) == {"name": f"{start}1+1"}
    assert csv_text({"n": lambda row: row}, [-5], headings=False) == "-5\r\n", "a figure stays one"


@pytest.mark.parametrize(
    ("query", "count"),
    [({}, 2), ({"kind": "other"}, 1), ({"reason": "permanent"}, 2), ({"reason": "poison"}, 0)],
)
def test_the_dead_letters_file_follows_the_filter_of_the_page(
    floor: PeopleFloor, viewer: Person, query: dict[str, str], count: int
) -> None:
    page = viewer.get("dead_letters", **query)
    assert len(page.context["page"].rows) == count
    answer = viewer.client.get(f"{reverse('web:export_tasks')}?{page.context['found']}")
    assert len(b"".join(answer).splitlines()) == count + 1
    if count:
        assert page.context["found"] in page.content.decode()


def test_one_error_s_page_and_file_have_the_same_tasks(floor: PeopleFloor, viewer: Person) -> None:
    (cause, *_) = rows_of(viewer.client, "export_causes", kind="other")
    page = viewer.get("dead_letters", cause=cause["key"])
    answer = viewer.client.get(f"{reverse('web:export_tasks')}?{page.context['found']}&format=json")
    (line,) = b"".join(answer).splitlines()
    assert json.loads(line)["kind"] == "other"


def test_filters_of_jobs_audit_and_bulks_are_those_of_their_pages(
    floor: PeopleFloor, viewer: Person
) -> None:
    assert not rows_of(viewer.client, "export_jobs", status="compensated")
    assert rows_of(viewer.client, "export_jobs", text="nightly")
    assert not rows_of(viewer.client, "audit_export", actor="nobody")
    assert not rows_of(viewer.client, "export_bulk", refused="")
    missing = reverse("web:export_bulk", args=[UUID(int=7)])
    assert viewer.client.get(missing).status_code == 404


def test_what_a_person_has_taken_is_in_the_inbox_file_with_their_name(
    floor: PeopleFloor, viewer: Person
) -> None:
    (step,) = floor.submit(1, kind="review")
    person("olga", "operator").post("claim_step", step)
    by_id = {row["id"]: row["person"] for row in rows_of(viewer.client, "export_inbox")}
    assert by_id[str(step)] == "olga"
    assert sorted(by_id.values())[0] == "", "another waits still"


def test_tasks_are_exported_beyond_every_page_and_every_window(
    floor: PeopleFloor, viewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_lists, "LOOKED_AT", 4)
    monkeypatch.setattr(task_lists, "SEARCHED", 4)
    floor.submit(30, kind="late")
    floor.submit(9, kind="other")
    for query in ({"q": "kind:late"}, {"q": "kind:late", "sort": "priority"}):
        assert len(rows_of(viewer.client, "export_tasks", **query)) == 30


def test_jobs_are_exported_beyond_what_one_page_looks_at(
    floor: PeopleFloor, viewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        floor.job([{"name": "s", "kind": "job", "payload": {}}], name=f"daily-{number}")
    monkeypatch.setattr(job_lists, "LOOKED_AT", 3)
    monkeypatch.setattr(job_lists, "PAGE", 2)
    assert [row["name"] for row in rows_of(viewer.client, "export_jobs", text="nightly")] == [
        "nightly"
    ]
    assert len(rows_of(viewer.client, "export_jobs")) == 6


def test_a_ledger_is_read_page_by_page(
    floor: PeopleFloor, viewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledgers, "PAGE", 2)
    for silent in range(5):
        NearMiss.objects.create(
            worker_id=floor.workers["w1"], leases=1, silent_seconds=silent, stale_after_seconds=90
        )
    found = rows_of(viewer.client, "export_near_misses")
    assert [float(row["silent_seconds"]) for row in found] == [4, 3, 2, 1, 0, 80]


def test_a_file_is_sent_while_it_is_read_and_holds_no_transaction_open(
    floor: PeopleFloor, viewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor.submit(2_500, kind="many")
    answer = viewer.client.get(address("export_tasks"), {"q": "kind:many"})
    parts = iter(answer)
    next(parts)
    with CaptureQueriesContext(connection) as queries:
        first = next(parts)
    assert first.count(b"\r\n") == 1_000, "one page, and not all of it"
    assert len(queries) <= 6
    assert not connection.in_atomic_block
    assert sum(part.count(b"\r\n") for part in parts) == 1_500


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_file_that_could_not_be_finished_says_so_in_its_last_line(
    floor: PeopleFloor, viewer: Person, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    def broken(*_: Any) -> Iterator[TaskPage]:
        yield TaskPage(())
        raise TimeoutError("the search was stopped after 2 s")

    monkeypatch.setattr("tasks_app.web.pages.tasks.iterate_pages", broken)
    last = text_of(viewer.client, "export_tasks", format=form).splitlines()[-1]
    assert "INCOMPLETE: the search was stopped after 2 s" in last
    if form == "json":
        assert "incomplete" in json.loads(last)


def test_groups_that_are_not_all_of_them_are_said_to_be_cut(
    floor: PeopleFloor, viewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tasks_app.store.reads.failures.dead_letters.list_causes.__defaults__", (1, 50)
    )
    answer = viewer.client.get(address("export_causes"))
    assert "only the newest" in answer["X-Chargehand-Incomplete"]
    assert "INCOMPLETE: only the newest" in b"".join(answer).decode().splitlines()[-1]
    whole = viewer.client.get(address("export_bulks"))
    assert "X-Chargehand-Incomplete" not in whole


@pytest.mark.parametrize(
    ("page", "files"),
    [
        ("tasks", ["export_tasks"]),
        ("dead_letters", ["export_tasks", "export_causes"]),
        ("jobs", ["export_jobs"]),
        ("workers", ["export_workers", "export_boots", "export_near_misses", "export_late"]),
        ("kinds", ["export_kinds"]),
        ("supervisor", ["export_shifts"]),
        ("inbox", ["export_inbox"]),
        ("bulks", ["export_bulks"]),
        ("bulk", ["export_bulk"]),
        ("audit", ["audit_export"]),
    ],
)
def test_each_page_offers_its_lists_in_both_formats(
    floor: PeopleFloor, viewer: Person, page: str, files: list[str]
) -> None:
    html = viewer.text(page, *([Bulk.objects.get().id] if page == "bulk" else []))
    for name in files:
        links = [part for part in html.split('"') if part.startswith(address(name) + "?")]
        assert {link.rpartition("format=")[2] for link in links} == {"csv", "json"}, name


def test_tasks_can_be_exported_with_what_it_takes_to_submit_them_again(
    floor: PeopleFloor, viewer: Person
) -> None:
    answer: Any = viewer.client.get(address("export_tasks"), {"payload": "1", "bom": "1"})
    text = b"".join(answer).decode()
    assert text.startswith("\ufeffid,kind,")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert len(rows) == Task.objects.count()
    for row in rows:
        task = Task.objects.get(id=row["id"])
        assert json.loads(row["payload"]) == task.payload
        assert float(row["weight"]) == task.weight


def test_payloads_are_exported_for_those_alone_who_see_them_whole(
    floor: PeopleFloor, viewer: Person
) -> None:
    floor.kind("job", redacted_keys=["secret"])
    answer: Any = viewer.client.get(address("export_tasks"), {"payload": "1"})
    assert answer.status_code == 403
    assert "see_payloads" in answer.content.decode()
    assert viewer.client.get(address("export_tasks")).status_code == 200
