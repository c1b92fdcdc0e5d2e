"""A browser before a whole site of its own: web, supervisor and workers as real processes."""

import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from controlplane.embedded import Server
from controlplane.environment import ROOT
from tests.browser.handlers import FOLDER
from tests.floor import Floor
from tests.waiting import wait_for

NAME, PASSWORD = "olivia", "a long enough passphrase"
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The machine's own Chromium, once a module.

    Not once for the run: Playwright's event loop runs in this thread for as long as it is open, and
    no other test could begin one of its own meanwhile.
    """
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium on this machine")
    # Playwright runs an event loop in this thread; Django would refuse the test's own queries.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield chromium
        chromium.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


class Web:
    """The web process on the test database: one for the run, for its start takes seconds."""

    def __init__(self, database_url: str, *options: str, log: Path | None = None) -> None:
        self._options = options
        self._log = log
        # A supervisor is missed after three beats.
        self._environment = {
            **os.environ,
            "DATABASE_URL": database_url,
            "DATABASE_POOL": "true",
            "BEAT_SECONDS": "1",
        }
        self._environment.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)
        self._port = _free_port()
        self.address = f"http://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Have it run and answer."""
        if self._process is not None:
            return
        command = ["-m", "daphne", "--bind", "127.0.0.1", "--port", str(self._port), *self._options]
        with self._log.open("wb") if self._log else nullcontext() as log:
            self._process = subprocess.Popen(
                [sys.executable, *command, "--verbosity", "0", "controlplane.asgi:application"],
                cwd=ROOT,
                env=self._environment,
                stdout=log,
                stderr=log,
            )
        wait_for(self._answers, "the web process to answer", 40)

    def kill(self) -> None:
        """End it without a word."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/healthz", timeout=2):
                return True
        except OSError:
            return False


@pytest.fixture(scope="session")
def web(django_db_setup: None, postgres: Server) -> Iterator[Web]:
    """The run's web process, gone before the test database is."""
    web = Web(postgres.url(connection.settings_dict["NAME"]))
    yield web
    web.kill()


@dataclass
class Site:
    """A floor with its web process, and the supervisor and workers that a test asks for."""

    web: Web
    floor: Floor
    folder: Path
    environment: Mapping[str, str]
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where the site answers, without a slash at the end."""
        return self.web.address

    def supervise(self) -> "subprocess.Popen[bytes]":
        """Start a supervisor and wait for its first round."""
        from tasks_app.store.reads.dispatch.leader_status import last_round_age_seconds

        process = self._start("supervise")
        wait_for(lambda: last_round_age_seconds() is not None, "a first round", 40)
        return process

    def work(self, name: str, *options: str) -> "subprocess.Popen[bytes]":
        """Start a worker and wait until it stands in the record."""
        from tasks_app.models import Worker

        handlers = ("--handlers", "tests.browser.handlers")
        process = self._start("work", "--name", name, *handlers, *options)
        wait_for(lambda: Worker.objects.filter(name=name, state="active").exists(), name, 40)
        return process

    def _start(self, *command: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "manage.py", *command], cwd=ROOT, env=self.environment
        )
        self.processes.append(process)
        return process


@pytest.fixture
def site(tmp_path: Path, process_env: Mapping[str, str], web: Web) -> Iterator[Site]:
    """A web process and an operator who may log in; supervisor and workers where a test asks."""
    web.start()
    get_user_model().objects.create_user(NAME, password=PASSWORD, is_staff=True, is_superuser=True)
    site = Site(web, Floor(), tmp_path, {**process_env, FOLDER: str(tmp_path)})
    yield site
    for process in site.processes:
        process.kill()
        process.wait(10)
    wait_for(_nobody_else_works, "the web process to come to rest")


def _nobody_else_works() -> bool:
    """Whether no other session is busy or listening: the flush after the test locks every table."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND (state <> 'idle' OR query LIKE 'LISTEN%%')"
        )
        return bool(cursor.fetchone() == (0,))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Visitor:
    """A page that is logged in, and everything that went wrong in it."""

    page: Page
    address: str
    faults: list[str]

    def go(self, path: str) -> None:
        """Open a page of the site."""
        self.page.goto(self.address + path)

    def axe(self) -> Sequence[str]:
        """What axe finds on the page as it is: rule and places."""
        if not AXE.exists():
            pytest.skip("axe-core is missing: make install fetches it")
        self.page.evaluate(AXE.read_text())
        found: dict[str, Any] = self.page.evaluate("axe.run()")
        return [
            f"{each['id']}: {json.dumps([node['target'] for node in each['nodes']])}"
            for each in found["violations"]
        ]

    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def visit(browser: Browser, site: Site, *, name: str = NAME, **options: Any) -> Visitor:
    """Open the overview as somebody who has logged in, by default the operator."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
    page = context.new_page()
    page.set_default_timeout(20_000)
    visitor = Visitor(page, site.address, [])
    page.on("pageerror", lambda error: visitor.faults.append(f"script: {error}"))
    page.on(
        "console",
        lambda said: visitor.faults.append(said.text) if "Security Policy" in said.text else None,
    )
    log_in(context, site.address, name)
    page.goto(f"{site.address}/")
    return visitor


def log_in(context: BrowserContext, address: str, name: str) -> None:
    """Give a browser the cookie of somebody; ``test_people`` logs in by the form itself."""
    client = Client()
    client.force_login(get_user_model().objects.get(username=name))
    session = client.cookies[settings.SESSION_COOKIE_NAME]
    context.add_cookies([{"name": session.key, "value": session.value, "url": address}])


@pytest.fixture
def visitor(browser: Browser, site: Site) -> Iterator[Visitor]:
    """An operator at the overview; a script that failed or broke the policy fails the test."""
    visitor = visit(browser, site)
    yield visitor
    visitor.page.context.close()
    assert visitor.faults == []


@pytest.fixture
def plain_visitor(browser: Browser, site: Site) -> Iterator[Visitor]:
    """The same without JavaScript."""
    visitor = visit(browser, site, java_script_enabled=False)
    yield visitor
    visitor.page.context.close()
