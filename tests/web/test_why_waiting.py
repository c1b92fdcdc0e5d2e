"""Why a task is not running, as its page tells it."""

import re
from datetime import UTC, datetime, timedelta

from tasks_app.models import BreakerState, Limit, LimitState
from tests.floor import Floor
from tests.web.conftest import Person


def test_a_pending_task_says_why_it_is_not_running(floor: Floor, viewer: Person) -> None:
    (task,) = floor.submit(1)
    assert "No live worker can do it" in viewer.text("task", task)
    floor.kind("job", paused=True)
    assert "is paused." in viewer.text("task", task)
    floor.kind("job", paused=False)
    floor.worker("w1")
    assert "1 live worker can do it" in viewer.text("task", task)
    assert "It is the next of its kind" in viewer.text("task", task)


def test_a_kind_that_nobody_offers_names_the_nearest_miss(floor: Floor, viewer: Person) -> None:
    floor.worker("w1", skills={"jobs": 1})
    (task,) = floor.submit(1)
    html = viewer.text("task", task)
    assert "w1 offers <code>jobs</code>" in html
    assert "Live workers offer <code>jobs</code>." in " ".join(html.split())
    floor.worker("w2")
    floor.silence("w2", 1000)
    floor.round()
    assert "could, and was last heard of" in viewer.text("task", task)


def test_what_holds_a_kind_back_says_until_when_and_by_whom(floor: Floor, viewer: Person) -> None:
    limit = Limit.objects.create(name="api", breaker_failures=1, breaker_open_seconds=60)
    floor.kind("job", limit=limit, breaker_failures=1, breaker_open_seconds=600, paused=True)
    (task,) = floor.submit(1)
    opened = datetime(2130, 1, 31, 12, tzinfo=UTC)
    for scope, name in (("kind", "job"), ("limit", "api")):
        BreakerState.objects.create(scope=scope, name=name, state="open", since=opened)
    html = " ".join(viewer.text("task", task).split())
    assert re.search(r'One task may try at <time datetime="2130-01-31T12:10:00', html)
    assert re.search(r'It goes on at <time datetime="2130-01-31T12:01:00', html)
    assert '<a href="/audit/?text=job">Who, and why</a>' in html
    BreakerState.objects.all().delete()
    # Within an hour: a pause that is further ahead comes from another clock and counts for nothing.
    until = datetime.now(UTC) + timedelta(minutes=10)
    LimitState.objects.create(limit=limit, tokens=1, paused_until=until)
    html = " ".join(viewer.text("task", task).split())
    assert re.search(f'It goes on at <time datetime="{until:%Y-%m-%dT%H:%M:%S}', html)
    assert "One task may try" not in html


def test_a_full_limit_names_who_holds_it(floor: Floor, viewer: Person) -> None:
    floor.kind("job", limit=Limit.objects.create(name="api", max_concurrent=1))
    floor.worker("w1", slots=5)
    holder, waiting = floor.submit(2)
    floor.round()
    html = viewer.text("task", waiting)
    assert "as much as it allows is in flight" in html
    assert f"/tasks/{holder}/" in html


def test_a_full_queue_tells_the_place_and_the_expected_start(floor: Floor, viewer: Person) -> None:
    floor.settings(backlog=0)
    floor.worker("w1")
    tasks = floor.submit(4, estimates=[10, 10, 10, 10])
    floor.round()
    html = " ".join(viewer.text("task", tasks[3]).split())
    assert "Every worker that can do it has as much as it may hold" in html
    assert "2 tasks of its kind are before it" in html
    assert "its turn comes in about 30 s" in html
