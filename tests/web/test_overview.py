"""The overview's page and its series: who sees them, what they say, what they cost."""

import html
import json
import time
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from controlplane.embedded import Server
from tasks_app.models import AlertSettings
from tasks_app.services.dispatch.sampler import Sampler
from tasks_app.web.shared_reading import SharedReading
from tests.floor import Floor
from tests.web.conftest import Person

MOST_QUERIES = 23
NASTY = '<img src=x onerror="alert(1)"></script>'


def sample(floor: Floor) -> None:
    Sampler().sample(floor.epoch, 60.0)


def test_an_empty_floor_says_what_to_do_next(floor: Floor, viewer: Person) -> None:
    page = viewer.text("overview")
    assert "nothing left to do" in page
    assert "manage.py work --name" in page
    assert "No dead letters" in page


def test_htmx_gets_only_what_moves(floor: Floor, viewer: Person) -> None:
    part = viewer.part("overview")
    assert "<html" not in part
    assert 'id="tables"' in part
    assert 'hx-swap-oob="innerHTML"' in part
    assert "data-plot" not in part


def test_the_page_costs_the_same_however_much_there_is(floor: Floor, viewer: Person) -> None:
    def cost() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            viewer.text("overview")
        return len(queries)

    floor.settings(backlog=None)
    floor.kind("job", max_attempts=1)
    floor.worker("w0", slots=3)
    floor.submit(3)
    floor.round()
    for grant in floor.claim("w0", 3):
        floor.fail("w0", grant)
    few = cost()
    for n in range(1, 20):
        floor.worker(f"w{n}")
    floor.submit(300)
    floor.round()
    assert cost() == few <= MOST_QUERIES


def test_what_others_wrote_is_shown_as_text(floor: Floor, viewer: Person) -> None:
    floor.kind(NASTY, max_attempts=1)
    floor.worker(NASTY, skills={NASTY: 1.0})
    floor.submit(2, kind=NASTY)
    floor.round()
    (grant,) = floor.claim(NASTY, 1)
    floor.fail(NASTY, grant, type=NASTY, message=NASTY)
    page = viewer.text("overview")
    assert "<img" not in page
    assert html.escape(NASTY) in page or "&lt;img" in page


def test_only_admins_are_offered_the_admin(floor: Floor, viewer: Person) -> None:
    assert "/admin/" not in viewer.text("overview")
    viewer.user.groups.set([Group.objects.get_or_create(name="admin")[0]])
    assert "/admin/" in viewer.text("overview")


def test_the_rail_counts_what_waits_for_a_human(floor: Floor, viewer: Person) -> None:
    floor.kind("job", max_attempts=1)
    floor.worker("w1", slots=2)
    floor.submit(2)
    floor.round()
    for grant in floor.claim("w1", 2):
        floor.fail("w1", grant)
    page = " ".join(viewer.text("tasks").split())
    assert 'data-count="DEAD" >2</span>' in page


def series(person: Person, **query: Any) -> Any:
    response = person.get("overview_series", **query)
    assert response.status_code == 200
    return json.loads(response.content)


def test_the_series_hold_what_the_record_holds(floor: Floor, viewer: Person) -> None:
    floor.submit(4)
    sample(floor)
    answer = series(viewer, range="5m")
    (point,) = answer["points"]
    assert point["by_status"] == {"PENDING": 4}
    assert point == answer["latest"]
    assert (answer["seconds"], answer["step"]) == (300, 1)
    assert answer["oldest"] <= point["at"] <= answer["now"]
    assert series(viewer, range="5m", after=point["at"])["points"] == []


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"range": "1y"},
        {"range": "5m", "after": "soon"},
        {"range": "5m", "after": "nan"},
        {"range": "5m", "after": "-1"},
        {"range": "5m", "after": "1e300"},
    ],
)
def test_a_range_that_is_none_is_refused(
    query: dict[str, str], floor: Floor, viewer: Person
) -> None:
    assert viewer.get("overview_series", **query).status_code == 400


def test_strangers_are_sent_to_the_log_in(db: None) -> None:
    stranger = Client()
    for path in ("/", "/series/?range=5m"):
        response = stranger.get(path)
        assert response.status_code == 302
        assert response.headers["Location"].startswith("/login/")


def test_nothing_is_kept_by_the_browser(floor: Floor, viewer: Person) -> None:
    for name, query in (("overview", {}), ("overview_series", {"range": "5m"})):
        assert "no-store" in viewer.get(name, **query).headers["Cache-Control"]


def test_reading_changes_nothing(floor: Floor, viewer: Person) -> None:
    assert viewer.client.post("/").status_code == 405
    assert viewer.client.post("/series/").status_code == 405


def test_a_transaction_that_is_held_open_is_told_with_its_remedy(
    floor: Floor, viewer: Person, postgres: Server
) -> None:
    AlertSettings.objects.update(snapshot_seconds=0.0)
    name = connection.settings_dict["NAME"]
    with psycopg.connect(postgres.url(name), application_name=NASTY[:60]) as holder:
        pid = holder.info.backend_pid
        holder.execute("SELECT 1")
        assert "pg_terminate_backend" not in viewer.text("overview"), "it holds no snapshot"
        holder.rollback()
        holder.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        holder.execute("SELECT 1")
        page = viewer.text("overview")
    assert f"SELECT pg_terminate_backend({pid});" in page
    assert "<img" not in page


def test_pages_that_ask_again_at_one_sample_share_a_reading(floor: Floor, viewer: Person) -> None:
    sample(floor)
    costs = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as sent:
            viewer.part("overview")
        costs.append(len(sent))
    assert costs[1] < costs[0] / 2
    floor.worker("hired since")
    assert "hired since" not in viewer.part("overview")
    assert "hired since" in viewer.text("overview")
    sample(floor)
    assert "hired since" in viewer.part("overview")


def test_a_reading_serves_no_longer_than_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    reading = SharedReading[float]()
    assert [reading.at(1.0, lambda: now), reading.at(None, lambda: now + 1)] == [100.0, 101.0]
    now = 100.9
    assert reading.at(1.0, lambda: now) == 100.0
    assert reading.at(2.0, lambda: now) == 100.9
    now = 102.0
    assert reading.at(2.0, lambda: now) == 102.0
