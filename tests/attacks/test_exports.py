"""Exports in numbers and long requests: what one person may have under way, and what that holds."""

import asyncio
import gc
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.asgi import get_asgi_application
from django.db import connection, connections
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tasks_app.models import Bulk
from tasks_app.services.people.turns import Turns
from tasks_app.store.reads.search.task_rows import TaskPage
from tasks_app.web import exports, person_turns
from tests.floor import Floor
from tests.waiting import wait_for
from tests.web.conftest import Person, person
from tests.web.test_exports import LISTS


@pytest.fixture
def vera(floor: Floor) -> Person:
    return person("vera", "viewer")


@pytest.fixture(autouse=True)
def nothing_under_way() -> Iterator[None]:
    """What other tests asked for and never read is gone."""
    gc.collect()
    yield
    gc.collect()


def address_of(name: str) -> str:
    if name != "export_bulk":
        return reverse(f"web:{name}")
    now = timezone.now()
    order = {"action": "requeue", "actor": "otto", "begins_at": now, "look_at": now}
    return reverse(f"web:{name}", args=[Bulk.objects.create(**order).id])


@pytest.mark.parametrize("name", sorted(LISTS))
def test_a_person_has_few_exports_under_way_and_the_next_is_told_to_wait(
    vera: Person, name: str
) -> None:
    address, otto = address_of(name), person("otto", "viewer")
    under_way = [vera.client.get(address) for _ in range(exports.MOST_AT_ONCE)]
    assert [each.status_code for each in under_way] == [200] * exports.MOST_AT_ONCE
    refused = vera.client.get(address)
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert "exports of yours are under way" in refused.content.decode()
    others: Any = otto.client.get(address)
    assert others.status_code == 200, "others are not held up"
    list(others)
    finished: Any = under_way.pop()
    list(finished)
    assert vera.client.get(address).status_code == 200, "one that ended makes room"


def test_an_export_that_nobody_reads_is_forgotten(vera: Person) -> None:
    for _ in range(3 * exports.MOST_AT_ONCE):
        assert vera.client.get(address_of("export_tasks")).status_code == 200
        gc.collect()


def test_a_look_at_the_headers_of_a_file_reads_none_of_it(
    vera: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []

    def read(*_: Any) -> Iterator[TaskPage]:
        reads.append("a page")
        yield TaskPage(())

    monkeypatch.setattr("tasks_app.web.pages.tasks.iterate_pages", read)
    answer: Any = vera.client.head(address_of("export_tasks"))
    assert answer.status_code == 200
    list(answer)
    assert not reads


@dataclass
class Opened:
    """Connections that the database backend has opened and not closed since."""

    count: int = 0


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Counts what requests open, which keep none of their own, as in a web process."""
    backend: Any = type(connections["default"])
    found = Opened()
    make, close = backend.get_new_connection, backend._close

    def making(self: Any, params: Any) -> Any:
        found.count += 1
        return make(self, params)

    def closing(self: Any) -> None:
        found.count -= self.connection is not None
        close(self)

    monkeypatch.setattr(backend, "get_new_connection", making)
    monkeypatch.setattr(backend, "_close", closing)
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 0)
    return found


def test_no_connection_is_held_while_an_answer_is_taken(
    vera: Person, floor: Floor, opened: Opened
) -> None:
    floor.submit(2_500)
    for path, least in ((address_of("export_tasks"), 4), ("/tasks/", 2), ("/account/", 2)):
        held: list[int] = []
        asyncio.run(_asked(vera.client, path, opened, held))
        assert len(held) >= least, path
        assert not any(held), path


async def _asked(client: Client, path: str, opened: Opened, held: list[int]) -> None:
    """Ask as a server does, which the test's own client is not, and note what is held then."""
    cookie = f"sessionid={client.cookies['sessionid'].value}".encode()
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"cookie", cookie)],
    }
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)
        held.append(opened.count)

    sent = asyncio.Event()

    async def receive() -> Any:
        if sent.is_set():
            await asyncio.Event().wait()
        sent.set()
        return {"type": "http.request", "body": b""}

    await get_asgi_application()(scope, receive, send)
    assert messages[0]["status"] == 200


def test_requests_of_one_person_take_turns(vera: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person_turns, "turns", Turns(person_turns.AT_ONCE, waiting=0))
    subject, otto = f"person {vera.user.pk}", person("otto", "viewer")
    for _ in range(person_turns.AT_ONCE):
        assert person_turns.turns.take(subject)
    for path in ("/tasks/", "/account/", "/admin/", "/tasks/export/"):
        refused = vera.client.get(path)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5"), path
        assert "requests of yours" in refused.content.decode()
    assert otto.client.get("/tasks/").status_code == 200
    assert vera.client.get("/healthz").status_code == 200
    person_turns.turns.give(subject)
    assert vera.client.get("/tasks/").status_code == 200
    assert person_turns.turns.running(subject) == person_turns.AT_ONCE - 1, "it was given back"


def test_requests_of_one_token_take_turns(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person_turns, "turns", Turns(0))
    for path in ("/api/v1/tasks", "/metrics", "/api/v1/docs"):
        refused = Client().get(path, headers={"Authorization": "Bearer chg_x"})
        assert refused.status_code == 429, path
    answer = Client().get("/api/v1/tasks", headers={"Authorization": "Bearer chg_x"})
    assert "requests of yours" in answer.json()["detail"]


def test_a_request_that_fails_ends_its_turn(vera: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks_app.web.pages.tasks.list_tasks", None)
    vera.client.raise_request_exception = False
    assert vera.client.get("/tasks/").status_code == 500
    assert person_turns.turns.running(f"person {vera.user.pk}") == 0


def test_whoever_waits_for_a_turn_gets_it_and_one_too_many_does_not() -> None:
    queue = Turns(1, waiting=1, longest_wait=60)
    assert queue.take("vera")
    got: list[bool] = []
    waiting = threading.Thread(target=lambda: got.append(queue.take("vera")))
    waiting.start()
    wait_for(lambda: queue.waiting("vera") == 1, "it to wait")
    assert not queue.take("vera"), "there is no room to wait"
    assert queue.take("otto"), "another subject has turns of its own"
    queue.give("vera")
    waiting.join()
    assert got == [True]
    queue.give("vera")
    assert (queue.running("vera"), queue.waiting("vera")) == (0, 0)
