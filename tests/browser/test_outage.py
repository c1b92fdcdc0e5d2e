"""A database that does not answer: what the pages say of it, and that they are right afterwards."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, expect

from controlplane.embedded import Server
from tests.browser.conftest import Site, Visitor, Web, visit
from tests.waiting import wait_for

POOLED = 10
"""Connections of a web process."""


@pytest.fixture
def hasty_site(site: Site, postgres: Server, tmp_path: Path) -> Iterator[Site]:
    """A web process that gives up a request a second after its client left, not ten."""
    url = postgres.url(connection.settings_dict["NAME"])
    web = Web(url, "--application-close-timeout", "1", log=tmp_path / "web.log")
    web.start()
    yield replace(site, web=web)
    web.kill()


@contextmanager
def tasks_locked(postgres: Server) -> Iterator[None]:
    """Have every page that reads a task wait."""
    with psycopg.connect(postgres.url(connection.settings_dict["NAME"])) as holder:
        holder.execute("LOCK TABLE task IN ACCESS EXCLUSIVE MODE")
        yield


def ask_and_keep(site: Site, path: str, name: str) -> socket.socket:
    """Ask for a page as somebody of their own, and read nothing of the answer.

    One person has four requests answered at a time.
    """
    user, _ = get_user_model().objects.get_or_create(username=name, is_superuser=True)
    client = Client()
    client.force_login(user)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    host, port = site.address.removeprefix("http://").split(":")
    asking = socket.create_connection((host, int(port)))
    lines = (
        f"GET {path} HTTP/1.1",
        f"Host: {host}:{port}",
        f"Cookie: {settings.SESSION_COOKIE_NAME}={cookie.value}",
        "",
        "",
    )
    asking.sendall("\r\n".join(lines).encode())
    return asking


def waiting_for_a_lock() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchone()[0])


def says_that_the_database_is_away(visitor: Visitor) -> None:
    visitor.go("/tasks/")
    expect(visitor.page.get_by_role("heading")).to_have_text("The database does not answer")


def take_all_connections(site: Site, postgres: Server) -> None:
    """Have as many pages wait at one time as the pool has connections, and be made."""
    with tasks_locked(postgres):
        asking = [ask_and_keep(site, "/tasks/", f"reader{n}") for n in range(POOLED)]
        wait_for(lambda: waiting_for_a_lock() == POOLED, "the pool to grow")
    for each in asking:
        assert each.recv(12) == b"HTTP/1.1 200"
        each.close()


def test_pages_of_errors_keep_no_connection(browser: Browser, site: Site, postgres: Server) -> None:
    visitor = visit(browser, site)
    visitor.go("/nowhere/")
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Not found")
    visitor.page.context.close()
    asking = [ask_and_keep(site, "/nowhere/", f"reader{n}") for n in range(POOLED)]
    for each in asking:
        assert each.recv(12) == b"HTTP/1.1 404"
        each.close()
    take_all_connections(site, postgres)


def end_all_connections() -> int:
    """As a restart of the server does; return how many there were."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])


def test_a_page_is_there_at_once_when_the_database_came_back(
    browser: Browser, site: Site, postgres: Server
) -> None:
    visitor = visit(browser, site)
    visitor.page.goto("about:blank")
    take_all_connections(site, postgres)
    assert end_all_connections() >= POOLED
    answer = visitor.page.goto(f"{site.address}/tasks/")
    assert answer is not None
    assert answer.status == 200
    visitor.page.context.close()


def test_clients_that_left_a_slow_page_cost_no_connection(
    browser: Browser, hasty_site: Site, postgres: Server, tmp_path: Path
) -> None:
    visitor = visit(browser, hasty_site)
    # The overview's feed keeps a connection of its own.
    visitor.page.goto("about:blank")
    with tasks_locked(postgres):
        asking = [ask_and_keep(hasty_site, "/tasks/", f"reader{n}") for n in range(2 * POOLED)]
        wait_for(lambda: waiting_for_a_lock() == POOLED, "the pages to wait")
        for each in asking:
            each.close()
        log = tmp_path / "web.log"
        wait_for(lambda: log.read_text().count("was killed") >= POOLED, "the server to give up")
        says_that_the_database_is_away(visitor)
        assert visitor.axe() == []
    wait_for(lambda: waiting_for_a_lock() == 0, "the pages to go on")
    visitor.go("/tasks/")
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Tasks")
    visitor.page.context.close()
