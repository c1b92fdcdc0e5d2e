"""Every address as nobody, viewer, operator and admin, from the routes: none can be missed."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import Group, User
from django.db import OperationalError, connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from controlplane.asgi import application
from tasks_app.api.api import api
from tasks_app.core.people.scopes import Scope
from tasks_app.live.consumers import SIGNED_OUT
from tasks_app.live.routing import websocket_urlpatterns
from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, Role
from tests.access.routes import ADMIN_OPEN, API, BY_TOKEN, PAGES, SOCKETS
from tests.floor import Floor
from tests.live.conftest import feed_runs, run, socket
from tests.waiting import wait_for

ROLES = {"viewer": Role.VIEWER, "operator": Role.OPERATOR, "admin": Role.ADMIN}


def routes_of(patterns: list[Any], prefix: str = "") -> Iterator[str]:
    for entry in patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes_of(entry.url_patterns, route)
        elif isinstance(entry, URLPattern):
            yield route


def operations() -> Iterator[str]:
    for prefix, router in api._routers:
        for path, view in router.path_operations.items():
            for operation in view.operations:
                for method in operation.methods:
                    yield f"{method} {prefix}{path}"


API_ROUTES = {f"api{each.split(' ')[1]}" for each in operations()}
EVERY_ROUTE = sorted(set(routes_of(get_resolver().url_patterns)))


def of_the_api(route: str) -> bool:
    """Whether an operation answers there; its converters are written in Django's way."""
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route) in API_ROUTES


PAGE_ROUTES = [
    route
    for route in EVERY_ROUTE
    if not route.startswith("admin/") and not of_the_api(route) and route != "api/"
]
ADMIN_ROUTES = [route for route in EVERY_ROUTE if route.startswith("admin/")]


def filled(route: str, task: UUID, worker: UUID) -> str:
    """The route with a value for each converter: a real task and worker, else made-up ones."""

    def value(found: "re.Match[str]") -> str:
        converter, _, name = found[1].rpartition(":")
        known = {"task_id": str(task), "worker_id": str(worker), "app_label": "tasks_app"}
        made_up = {"uuid": str(task), "int": "1", "str": "x", "slug": "x", "path": "x"}
        return known.get(name) or made_up[converter or "str"]

    address = "/" + re.sub(r"<([^>]+)>", value, route)
    # Django's admin writes two of its routes as expressions.
    return address.replace("^(?P", "").replace("(?P", "").replace(".*)$", "x").rstrip("$")


@pytest.fixture
def floor(record: None) -> Iterator[Floor]:
    floor = Floor()
    floor.lead()
    yield floor
    wait_for(lambda: not feed_runs(), "the feed to end")


def user_of(name: str) -> User | None:
    """Somebody with one role; None is nobody."""
    if name == "nobody":
        return None
    user = User.objects.create_user(name)
    user.groups.add(Group.objects.get_or_create(name=name)[0])
    return user


def judge(response: Any, role: Role, least: Role | None, where: str) -> None:
    """Hold an answer against the rule."""
    status, target = response.status_code, response.headers.get("Location", "")
    to_login = status == 302 and target.startswith(("/login/?next=", "/admin/login/?next="))
    if role is Role.NOBODY and least is not Role.NOBODY:
        # The log-in comes before everything, and says nothing about the address.
        assert to_login or (status == 405 and least is None), f"{where}: {status} {target}"
    elif least is None:
        assert status == 405, f"{where}: {status}"
    elif role < least:
        assert status == 403, f"{where}: {status} {target}"
    else:
        assert not to_login, f"{where}: {target}"
        assert status not in (401, 403, 405), f"{where}: {status}"
        assert status < 500 or where.endswith("/readyz"), f"{where}: {status}"


def test_every_page_is_in_the_table() -> None:
    """A new page gets a row in ``tests/access/routes.py``."""
    assert set(PAGE_ROUTES) == {*PAGES, *BY_TOKEN}


def test_every_operation_of_the_api_is_in_the_table() -> None:
    assert set(operations()) == set(API)


def test_every_websocket_is_in_the_table() -> None:
    assert {str(each.pattern) for each in websocket_urlpatterns} == set(SOCKETS)


def visitors(floor: Floor, name: str, routes: Iterable[str]) -> Iterator[tuple[Client, str, str]]:
    """(client, route, address) of each route, the log-out last; each with a task of its own."""
    worker, client, user = floor.worker("w1"), Client(), user_of(name)
    if user is not None:
        client.force_login(user)
    for route in sorted(routes, key=lambda route: ("logout" in route, route)):
        (task,) = floor.submit(1)
        yield client, route, filled(route, task, worker)


@pytest.mark.parametrize("name", ["nobody", *ROLES])
def test_each_page_lets_in_whom_its_rule_names(floor: Floor, name: str) -> None:
    role = ROLES.get(name, Role.NOBODY)
    for client, route, address in visitors(floor, name, PAGES):
        rule = PAGES[route]
        judge(client.get(address), role, rule.get, f"GET {address}")
        judge(client.head(address), role, rule.get, f"HEAD {address}")
        if rule.post is not Role.NOBODY:
            for method in (client.put, client.patch, client.delete):
                judge(method(address), role, None, f"another method at {address}")
        judge(client.post(address, {}), role, rule.post, f"POST {address}")


@pytest.mark.parametrize("name", ["nobody", *ROLES])
def test_all_of_the_admin_is_for_admins(floor: Floor, name: str) -> None:
    role = ROLES.get(name, Role.NOBODY)
    assert len(ADMIN_ROUTES) > 20
    for client, route, address in visitors(floor, name, ADMIN_ROUTES):
        for answer in (client.get(address), client.post(address, {})):
            target = answer.headers.get("Location", "")
            to_login = answer.status_code == 302 and "/login/" in target
            if role is Role.ADMIN:
                assert answer.status_code < 500, address
                assert not to_login or route in ADMIN_OPEN, address
            elif route not in ADMIN_OPEN:
                wanted = to_login if role is Role.NOBODY else answer.status_code == 403
                assert wanted, f"{address}: {answer.status_code} {target}"


def test_the_root_of_the_api_shows_nothing(floor: Floor) -> None:
    assert Client().get("/api/").status_code == 302
    client = Client()
    client.force_login(user_of("admin") or User())
    assert client.get("/api/").status_code == 404


def ask(client: Client, operation: str, task: UUID, token: str | None = None) -> Any:
    method, path = operation.split(" ")
    address = "/api" + re.sub(r"{[^}]+}", str(task), path)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return client.generic(method, address, b"{}", "application/json", headers=headers)


def test_no_session_opens_the_api(floor: Floor) -> None:
    (task,) = floor.submit(1)
    for name in ("nobody", *ROLES):
        user, client = user_of(name), Client()
        if user is not None:
            client.force_login(user)
        for operation in API:
            assert ask(client, operation, task).status_code == 401, (name, operation)


@pytest.mark.parametrize("scope", list(Scope))
def test_a_token_opens_what_its_scope_names(floor: Floor, scope: Scope) -> None:
    (task,) = floor.submit(1)
    token = tokens.create("one", Actor("ada", role=Role.ADMIN), scopes=[scope]).text
    for operation, needed in API.items():
        answer = ask(Client(), operation, task, token)
        if scope is needed:
            assert answer.status_code not in (401, 403), operation
        else:
            assert answer.status_code == 403, (operation, answer.status_code)
            assert f"lacks the scope {needed}" in json.loads(answer.content)["detail"]


def test_what_goes_by_a_token_outside_the_api_asks_for_its_scope(floor: Floor) -> None:
    ada, user = Actor("ada", role=Role.ADMIN), user_of("admin")
    logged_in = Client()
    logged_in.force_login(user or User())
    for route, needed in BY_TOKEN.items():
        for client in (Client(), logged_in):
            assert client.get(f"/{route}").status_code == 401
        for scope in Scope:
            token = tokens.create("one", ada, scopes=[scope]).text
            answer = Client().get(f"/{route}", headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == (200 if scope is needed else 403)
            assert Client().post(f"/{route}").status_code == 405


@pytest.mark.parametrize("name", ["nobody", *ROLES])
def test_each_websocket_lets_in_whom_its_rule_names(floor: Floor, name: str) -> None:
    user, client = user_of(name), Client()
    if user is not None:
        client.force_login(user)

    async def scenario() -> None:
        for path, least in SOCKETS.items():
            async with socket(client, f"/{path}") as page:
                answer = await page.receive_output(timeout=10)
                if ROLES.get(name, Role.NOBODY) < least:
                    assert (answer["type"], answer["code"]) == ("websocket.close", SIGNED_OUT)
                else:
                    assert answer["type"] == "websocket.send"

    run(scenario)


def test_a_websocket_from_another_site_is_refused(floor: Floor) -> None:
    user, client = user_of("operator"), Client()
    client.force_login(user or User())

    async def scenario() -> None:
        for path in SOCKETS:
            headers = [
                (b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode()),
                (b"origin", b"https://elsewhere.example"),
                (b"host", b"localhost"),
            ]
            connected, _ = await WebsocketCommunicator(application, f"/{path}", headers).connect(10)
            assert not connected

    run(scenario)


def test_no_page_acts_without_its_own_sites_token(floor: Floor) -> None:
    """A form on another site sends the cookie along, but cannot know the token."""
    worker, user = floor.worker("w1"), user_of("admin")
    (task,) = floor.submit(1)
    client = Client(enforce_csrf_checks=True)
    client.force_login(user or User())
    acts = [route for route, rule in PAGES.items() if rule.post is not None]
    for route in [*acts, *ADMIN_ROUTES]:
        answer = client.post(filled(route, task, worker), {})
        assert answer.status_code == 403, route
    assert floor.status(task) == "PENDING"


def test_looking_changes_nothing(floor: Floor) -> None:
    """Every page is fetched while the database refuses to write."""
    pages = [route for route, rule in PAGES.items() if rule.get is not None]
    for client, _, address in visitors(floor, "admin", [*pages, *ADMIN_ROUTES]):
        with read_only():
            for method in (client.get, client.head):
                if "logout" not in address:
                    assert method(address).status_code < 500 or address == "/readyz", address


@contextmanager
def read_only() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
        yield
        cursor.execute("SET default_transaction_read_only = off")


def test_a_database_that_refuses_to_write_is_noticed_by_the_test_above(floor: Floor) -> None:
    (task,) = floor.submit(1)
    client = Client()
    client.force_login(user_of("operator") or User())
    with read_only(), pytest.raises(OperationalError, match="read-only"):
        client.post(f"/tasks/{task}/cancel/")
