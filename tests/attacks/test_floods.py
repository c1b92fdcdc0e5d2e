"""Floods against a real web process with its pool of connections: who is refused, who is served."""

import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from controlplane.embedded import Server
from tasks_app.web.exports import MOST_AT_ONCE
from tests.browser.conftest import Web
from tests.floor import Floor
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PARALLEL = 40


@dataclass
class Site:
    """The process, asked by strangers and by people who are logged in."""

    port: int
    lines: list[tuple[HTTPConnection, HTTPResponse]] = field(default_factory=list)

    def leave(self) -> None:
        """Close all that was opened, read or not."""
        while self.lines:
            line, answer = self.lines.pop()
            answer.close()
            line.close()

    def open(self, path: str, cookie: str = "", body: str | None = None) -> HTTPResponse:
        """The answer, of which nothing has been read yet."""
        line = HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Cookie": cookie} if cookie else {}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        line.request("GET" if body is None else "POST", path, body, headers)
        answer = line.getresponse()
        self.lines.append((line, answer))
        return answer

    def status(self, path: str, cookie: str = "") -> int:
        """The status of an answer that is read to its end."""
        answer = self.open(path, cookie)
        answer.read()
        return answer.status

    def guess(self, name: str) -> HTTPResponse:
        """Send the log-in's form with a wrong password."""
        page = self.open("/login/")
        text, sent = page.read().decode(), page.headers["Set-Cookie"] or ""
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', text)
        cookie = sent.partition(";")[0]
        assert found
        form = {"username": name, "password": "wrong", "csrfmiddlewaretoken": found[1]}
        answer = self.open("/login/", cookie, urlencode(form))
        answer.read()
        return answer


@pytest.fixture(scope="module")
def process(django_db_setup: None, postgres: Server) -> Iterator[Web]:
    """A web process of this module's own."""
    web = Web(postgres.url(connection.settings_dict["NAME"]))
    web.start()
    yield web
    web.kill()


@pytest.fixture
def site(record: None, process: Web) -> Iterator[Site]:
    """The process on a record that begins empty."""
    site = Site(int(process.address.rpartition(":")[2]))
    yield site
    site.leave()
    wait_for(_at_rest, "the web process to come to rest", 60)


def _at_rest() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND state <> 'idle'"
        )
        return bool(cursor.fetchone() == (0,))


def cookie_of(name: str) -> str:
    """The cookie of somebody who is logged in."""
    client = Client()
    client.force_login(User.objects.create_user(name))
    return f"sessionid={client.cookies['sessionid'].value}"


def asked_meanwhile(site: Site, cookie: str, flood: list["Future[HTTPResponse]"]) -> Counter[int]:
    """What pages and the probe answer for as long as a flood lasts; ten times at least."""
    answers: Counter[int] = Counter()
    while not all(each.done() for each in flood) or answers.total() < 20:
        answers[site.status("/tasks/", cookie)] += 1
        answers[site.status("/healthz")] += 1
    return answers


def test_pages_are_served_while_log_ins_are_flooded(site: Site) -> None:
    cookie = cookie_of("vera")
    with ThreadPoolExecutor(PARALLEL) as threads:
        flood = [threads.submit(site.guess, f"name-{number}") for number in range(3 * PARALLEL)]
        meanwhile = asked_meanwhile(site, cookie, flood)
        wait(flood)
    assert set(meanwhile) == {200}
    answers = [each.result() for each in flood]
    statuses = Counter(each.status for each in answers)
    assert set(statuses) <= {200, 429, 503}
    assert statuses[200] <= 22, "those of a minute, and what the flood's own time gave back"
    refused = [each for each in answers if each.status != 200]
    assert all(int(each.headers["Retry-After"]) > 0 for each in refused)


def test_pages_are_served_while_one_person_exports_all(site: Site) -> None:
    floor = Floor()
    floor.lead()
    floor.submit(30_000)
    vera, otto = cookie_of("vera"), cookie_of("otto")
    under_way = [site.open("/tasks/export/", vera) for _ in range(12)]
    statuses = Counter(each.status for each in under_way)
    assert statuses == {200: MOST_AT_ONCE, 429: 12 - MOST_AT_ONCE}
    for cookie in (vera, otto):
        assert Counter(site.status("/tasks/", cookie) for _ in range(10)) == {200: 10}
    whole = [each.read().count(b"\r\n") for each in under_way if each.status == 200]
    assert whole == [30_001] * MOST_AT_ONCE, "a slow reader gets all of it in the end"
    assert site.status("/tasks/export/", vera) == 200


def test_readers_that_leave_make_room_again(site: Site) -> None:
    floor = Floor()
    floor.lead()
    floor.submit(30_000)
    vera = cookie_of("vera")

    def all_begin() -> bool:
        """Begin as many as may be under way, and leave them unread."""
        begun = [site.open("/tasks/export/", vera).status for _ in range(MOST_AT_ONCE)]
        site.leave()
        return begun == [200] * MOST_AT_ONCE

    for _ in range(3):
        wait_for(all_begin, "room for as many as may be under way", 60)


def test_one_person_s_slow_pages_leave_connections_for_others(site: Site) -> None:
    floor = Floor()
    floor.lead()
    floor.submit(30_000)
    vera, otto = cookie_of("vera"), cookie_of("otto")
    query = urlencode({"q": 'error ~ "nothing like it" or payload.a ~ "nothing"'})
    with ThreadPoolExecutor(PARALLEL) as threads:
        flood = [threads.submit(site.open, f"/tasks/?{query}", vera) for _ in range(PARALLEL)]
        meanwhile = asked_meanwhile(site, otto, flood)
        wait(flood)
    assert set(meanwhile) == {200}
    assert {each.result().status for each in flood} <= {200, 429}
