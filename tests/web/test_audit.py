"""The audit's pages: search, one entry, exports, and what they cost."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tasks_app.models import AuditEntry
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor
from tasks_app.store.reads.failures.dead_letters import DeadFilter, list_causes
from tests.floor import Floor
from tests.web.conftest import Person, died

# Session, user, groups, rail, entries, acts.
PAGE_QUERIES = 9


@pytest.fixture
def acts(floor: Floor) -> None:
    note(
        Actor("otto", "10.0.0.7", "a made-up browser"),
        "requeue",
        "3 tasks",
        count=3,
        reason="mended",
        wanted="kind=a",
    )
    note(Actor("vera"), "dismiss", "one task", reason='=HYPERLINK("x")<script>', tasks=["17"])


def test_the_last_act_comes_first_with_all_that_it_says(acts: None, viewer: Person) -> None:
    html = viewer.text("audit")
    assert html.index("Dismiss") < html.index("Requeue")
    assert "where kind=a" in html
    assert "&lt;script&gt;" in html
    assert "<script>" not in html.partition("<main")[2]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"actor": "otto"}, ["Requeue"]),
        ({"action": "dismiss"}, ["Dismiss"]),
        ({"text": "10.0.0"}, ["Requeue"]),
        ({"text": '["17"]'}, ["Dismiss"]),
        ({"text": "100%"}, []),
        ({"until": "2020-01-01"}, []),
        ({"since": "nonsense", "before": "x", "after": "-1"}, ["Requeue", "Dismiss"]),
        ({"since": "0001-01-01", "before": "9" * 30}, ["Requeue", "Dismiss"]),
    ],
)
def test_it_is_searched_by_who_what_when_and_text(
    acts: None, viewer: Person, query: dict[str, str], found: list[str]
) -> None:
    table = viewer.part("audit", **query)
    assert [act for act in ("Requeue", "Dismiss") if act in table] == found


def test_the_filter_of_an_act_on_a_group_leads_to_its_tasks(floor: Floor, operator: Person) -> None:
    floor.worker("w1")
    for number in (1, 2):
        died(floor, "w1", message=f"no such part: {number}")
    key = list_causes(DeadFilter())[0][0].key
    died(floor, "w1", message="of another cause")
    asked = timezone.now().isoformat()
    operator.post("requeue", all=1, cause=key, as_of=asked, because="mended")
    html = operator.text("audit_entry", AuditEntry.objects.get().id)
    (address,) = re.findall(r'href="([^"]*\?q=[^"]*cause[^"]*)"', html)
    found = operator.client.get(address.replace("&amp;", "&")).content.decode()
    assert "no such part" in found
    assert "of another cause" not in found


def test_a_day_is_meant_whole(acts: None, viewer: Person) -> None:
    today = datetime.now(UTC).date()
    assert "Requeue" in viewer.part("audit", since=today, until=today)
    assert "Requeue" not in viewer.part("audit", until=today - timedelta(days=1))


def test_an_entry_is_shown_in_full(acts: None, viewer: Person) -> None:
    html = viewer.text("audit_entry", 1)
    assert "10.0.0.7, a made-up browser" in " ".join(html.split())
    assert "Digest" in html
    assert viewer.get("audit_entry", 77).status_code == 404
    assert viewer.get("audit_entry", 10**30).status_code == 404


@pytest.mark.parametrize(
    ("subject", "address"),
    [
        (str(UUID(int=7)), f"/tasks/{UUID(int=7)}/"),
        (f"worker {UUID(int=7)}", f"/workers/{UUID(int=7)}/"),
        (f"job {UUID(int=7)}", f"/jobs/{UUID(int=7)}/"),
        (f"bulk {UUID(int=7)}", f"/acts/{UUID(int=7)}/"),
        (f"30 tasks, bulk {UUID(int=7)}", f"/acts/{UUID(int=7)}/"),
        ("dead letters 0a1b2c3d4e5f6071", "/dead-letters/0a1b2c3d4e5f6071/"),
    ],
)
def test_an_entry_leads_to_what_was_acted_on(
    floor: Floor, viewer: Person, subject: str, address: str
) -> None:
    note(Actor("otto"), "act", subject)
    html = viewer.text("audit_entry", AuditEntry.objects.get().id)
    assert f'<a class="recorded" href="{address}">{subject}</a>' in html


def test_exports_hold_what_the_filter_matches(acts: None, viewer: Person) -> None:
    response = viewer.get("audit_export", format="json", actor="otto")
    lines = b"".join(response.streaming_content).decode().splitlines()
    assert [json.loads(line)["subject"] for line in lines] == ["3 tasks"]
    response = viewer.get("audit_export")
    text = b"".join(response.streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["action"] for row in rows] == ["dismiss", "requeue"]
    assert rows[0]["reason"].startswith("'="), "a spreadsheet must not run it"
    assert response["Content-Disposition"] == 'attachment; filename="audit.csv"'


def test_nobody_sees_the_audit_without_a_log_in(acts: None) -> None:
    for name in ("audit", "audit_export"):
        assert Client().get(reverse(f"web:{name}")).status_code == 302


def test_the_page_asks_a_bounded_number_of_questions(
    acts: None, viewer: Person, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(PAGE_QUERIES):
        viewer.text("audit")
