"""Every address with hostile values in its path, query, form, headers, cookies and body: no 500."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest
from axes.models import AccessAttempt
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.test import Client

from controlplane.asgi import application
from tasks_app.api.api import api
from tasks_app.core.people.scopes import Scope
from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, Role
from tests.access.test_walls import ADMIN_ROUTES, EVERY_ROUTE, filled, of_the_api, operations
from tests.attacks.conftest import Hashes
from tests.attacks.hostile import (
    BODIES,
    COOKIES,
    HEADER_NAMES,
    HEADERS,
    OF_THE_ADMIN,
    PARTS,
    VALUES,
    names_in_sources,
    names_on,
    without,
)
from tests.floor import Floor
from tests.live.conftest import run

PAGES = [route for route in EVERY_ROUTE if not of_the_api(route)]
READ = names_in_sources()


class Attack:
    """A superuser who is logged in again whenever an attack has ended that."""

    def __init__(self, floor: Floor, settings: Any) -> None:
        settings.API_RATE = settings.API_FAILED_RATE = settings.LOGIN_FAILED_RATE = None
        self.floor = floor
        self.worker = floor.worker("w1")
        (self.task,) = floor.submit(1)
        self.found: set[str] = set()
        self._client = Client(raise_request_exception=False)
        self._logged_in = False

    @property
    def client(self) -> Client:
        """The one who attacks, logged in."""
        if not self._logged_in:
            self._client.cookies.clear()
            self._client.force_login(
                User.objects.get_or_create(username="root", is_superuser=True)[0]
            )
            self._logged_in = True
        return self._client

    def address(self, route: str) -> str:
        """The route with real ids."""
        return filled(route, self.task, self.worker)

    def note(self, answer: Any, what: str) -> None:
        """Keep it where the answer is a fault of the site's own."""
        to_login = answer.status_code == 302 and "/login/" in answer["Location"]
        if to_login or "cookie" in what:
            self._logged_in = False
        if answer.status_code >= 500 and "readyz" not in what.split()[1]:
            self.found.add(f"{answer.status_code} {what[:150]!r}")

    def names(self, route: str) -> list[str]:
        """What the page of a route takes."""
        answer: Any = self.client.get(self.address(route))
        page = "" if answer.streaming else answer.content.decode(errors="replace")
        more = OF_THE_ADMIN if route.startswith("admin/") else ()
        return list(without({*READ, *names_on(page), *more}, "csrfmiddlewaretoken"))


@pytest.fixture
def attack(floor: Floor, hashes: Hashes, settings: Any) -> Iterator[Attack]:
    logging.disable(logging.CRITICAL)
    yield Attack(floor, settings)
    logging.disable(logging.NOTSET)


def encoded(value: str) -> str:
    """As a browser writes it into an address, a lone surrogate too."""
    return quote(value.encode("utf-8", "surrogatepass"))


def query_of(names: list[str], value: str) -> str:
    return "&".join(f"{quote(name)}={encoded(value)}" for name in names)


def test_no_path_is_a_500(attack: Attack) -> None:
    with_parts = [route for route in EVERY_ROUTE if "<" in route or "?P" in route]
    for number, route in enumerate(with_parts):
        for part in PARTS[number % 3 :: 3]:
            path = "/" + part.join(re.split(r"\(\?P<[^>]+>[^)]*\)|<[^>]+>", route))
            for method in ("get", "post"):
                ask: Callable[..., Any] = getattr(attack.client, method)
                attack.note(ask(path.replace("^", "").rstrip("$")), f"{method} {path}")
    assert not attack.found


def test_no_query_and_no_form_is_a_500(attack: Attack) -> None:
    """All parameters of a page hold the same value at once; the slow test tries each alone."""
    for number, route in enumerate(PAGES):
        address, names = attack.address(route), attack.names(route)
        for value in VALUES[number % 4 :: 4]:
            query = query_of(names, value)
            attack.note(attack.client.get(f"{address}?{query}"), f"get {route} {value[:20]!r}")
            twice = f"{query}&{query}"
            form: Any = attack.client.post(
                address, twice, content_type="application/x-www-form-urlencoded"
            )
            attack.note(form, f"post {route} {value[:20]!r}")
    assert not attack.found


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("routes", [PAGES[n::8] for n in range(8)], ids="abcdefgh")
def test_no_value_of_a_query_or_form_is_a_500(attack: Attack, routes: list[str]) -> None:
    form = "application/x-www-form-urlencoded"
    for route in routes:
        address, names = attack.address(route), attack.names(route)
        for value in VALUES:
            query = query_of(names, value)
            attack.note(attack.client.get(f"{address}?{query}"), f"get {route} {value[:20]!r}")
            answer: Any = attack.client.post(address, query, content_type=form)
            attack.note(answer, f"post {route} {value[:20]!r}")
    assert not attack.found


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("routes", [PAGES[n::8] for n in range(8)], ids="abcdefgh")
def test_no_single_parameter_is_a_500(attack: Attack, routes: list[str]) -> None:
    for route in routes:
        address, client = attack.address(route), attack.client
        for name in attack.names(route):
            for value in VALUES[::2]:
                query = query_of([name], value)
                attack.note(client.get(f"{address}?{query}"), f"get {route} {name} {value[:20]!r}")
    assert not attack.found


def test_no_body_is_a_500(attack: Attack) -> None:
    for number, route in enumerate(EVERY_ROUTE):
        address = attack.address(route)
        for kind, body in BODIES[number % 3 :: 3]:
            answer = attack.client.generic("POST", address, body, kind)
            attack.note(answer, f"post {route} {kind} {body[:20]!r}")
    assert not attack.found


def test_no_header_and_no_cookie_is_a_500(attack: Attack) -> None:
    for route in ("account/", "login/", "api/v1/tasks"):
        assert route in EVERY_ROUTE
        for value in HEADERS:
            for name in HEADER_NAMES:
                answer = attack.client.generic(
                    "GET" if route == "account/" else "POST", f"/{route}", headers={name: value}
                )
                attack.note(answer, f"ask {route} {name} {value[:20]!r}")
            for name in COOKIES:
                client = attack.client
                client.cookies[name] = value
                attack.note(client.get(f"/{route}"), f"get {route} cookie {name} {value[:20]!r}")
    assert not attack.found


def test_no_json_of_a_program_is_a_500(attack: Attack) -> None:
    schema: Any = api.get_openapi_schema()
    names = sorted(
        {
            name
            for each in schema["components"]["schemas"].values()
            for name in each.get("properties", {})
        }
    )
    token = tokens.create("one", Actor("ada", role=Role.ADMIN), scopes=list(Scope)).text
    headers = {"Authorization": f"Bearer {token}"}
    hostile: list[Any] = [*VALUES, 10**30, -(10**30), 1e300, True, None, [], {}, [[1]], {"a": {}}]
    for operation in operations():
        method, path = operation.split(" ")
        parts = (PARTS[0], PARTS[5], str(attack.task)) if "{" in path else ("",)
        for part in parts:
            address = "/api" + part.join(re.split(r"{[^}]+}", path))
            for value in hostile:
                body = json.dumps(dict.fromkeys(names, value))
                for sent in (body, json.dumps({"tasks": [json.loads(body)]}), json.dumps(value)):
                    answer = attack.client.generic(
                        method, address, sent, "application/json", headers=headers
                    )
                    attack.note(answer, f"{operation} {part[:20]} {str(value)[:20]!r}")
            for name in names:
                query = query_of([name, "q", "after", "before", "limit"], VALUES[0])
                answer = attack.client.get(f"{address}?{query}", headers=headers)
                attack.note(answer, f"get {operation} {name}")
    assert not attack.found


def test_the_attack_finds_what_there_is_to_find() -> None:
    assert len(READ) > 15
    assert len(ADMIN_ROUTES) > 20


def test_a_cookie_that_cannot_be_stored_opens_no_websocket(floor: Floor) -> None:
    """Octal escapes in a quoted cookie become a NUL, which no server refuses as one."""

    async def scenario() -> None:
        headers = [
            (b"host", b"localhost"),
            (b"origin", b"http://localhost"),
            (b"cookie", b'sessionid="a\\000"'),
        ]
        line = WebsocketCommunicator(application, "/ws/live/", headers)
        connected, _ = await line.connect(timeout=10)
        assert not connected

    run(scenario)


@pytest.mark.parametrize(
    "address", ["/tasks/?q=%00", "/admin/auth/user/?q=%00", "/admin/r/1/1/", "/static/%00"]
)
def test_what_broke_once_is_refused(attack: Attack, address: str) -> None:
    assert attack.client.get(address).status_code in (400, 404)


def test_a_log_in_name_longer_than_any_is_refused_in_its_form(attack: Attack) -> None:
    answer = Client().post("/login/", {"username": "x" * 256, "password": "y"})
    assert answer.status_code == 200
    assert not AccessAttempt.objects.exists()


@pytest.mark.parametrize("wanted", ["%00", "elsewhere", "web:tasks", "//evil.example/"])
def test_a_place_to_go_back_to_is_a_path_of_the_site(attack: Attack, wanted: str) -> None:
    attack.floor.kind("job")
    form = {"kind": "job", "reason": "why", "next": wanted}
    answer = attack.client.post("/kinds/pause/", form)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/kinds/")
