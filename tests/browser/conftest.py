"""A browser before a whole site of its own: web, supervisor and workers as real processes."""

import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import Browser, Page, expect, sync_playwright

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


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The machine's own Chromium, once for the run."""
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


@dataclass
class Site:
    """The site's address, its floor, and its processes, all of which the fixture ends."""

    address: str
    port: int
    floor: Floor
    folder: Path
    start: Callable[..., "subprocess.Popen[bytes]"]
    processes: list["subprocess.Popen[bytes]"]

    def web(self) -> "subprocess.Popen[bytes]":
        """Start the web process and wait until it answers."""
        process = self.start(
            *("-m", "daphne", "--bind", "127.0.0.1", "--port", str(self.port), "--verbosity", "0"),
            "controlplane.asgi:application",
        )
        wait_for(self._answers, "the web process to answer", 40)
        return process

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/healthz", timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def supervise(self) -> "subprocess.Popen[bytes]":
        """Start a supervisor and wait for its first round."""
        from tasks_app.store.reads.duty import last_round_age_seconds

        process = self.start("manage.py", "supervise")
        wait_for(lambda: last_round_age_seconds() is not None, "a first round", 40)
        return process

    def work(self, name: str, *options: str) -> "subprocess.Popen[bytes]":
        """Start a worker and wait until it stands in the record."""
        from tasks_app.models import Worker

        process = self.start(
            *("manage.py", "work", "--name", name, "--handlers", "tests.browser.handlers"), *options
        )
        wait_for(lambda: Worker.objects.filter(name=name, state="active").exists(), name, 40)
        return process


@pytest.fixture
def site(tmp_path: Path, process_env: Mapping[str, str]) -> Iterator[Site]:
    """A web process and an operator who may log in; supervisor and workers where a test asks."""
    processes: list[subprocess.Popen[bytes]] = []
    # A supervisor is missed after three beats.
    environment = {**process_env, FOLDER: str(tmp_path), "BEAT_SECONDS": "1"}
    environment.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)

    def start(*command: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen([sys.executable, *command], cwd=ROOT, env=environment)
        processes.append(process)
        return process

    port = _free_port()
    site = Site(f"http://127.0.0.1:{port}", port, Floor(), tmp_path, start, processes)
    get_user_model().objects.create_user(NAME, password=PASSWORD, is_staff=True, is_superuser=True)
    site.web()
    yield site
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait(10)


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


def _visit(browser: Browser, site: Site, **options: Any) -> Visitor:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
    page = context.new_page()
    page.set_default_timeout(20_000)
    visitor = Visitor(page, site.address, [])
    page.on("pageerror", lambda error: visitor.faults.append(f"script: {error}"))
    page.on(
        "console",
        lambda said: visitor.faults.append(said.text) if "Security Policy" in said.text else None,
    )
    page.goto(f"{site.address}/login/")
    page.get_by_label("User name").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{site.address}/")
    return visitor


@pytest.fixture
def visitor(browser: Browser, site: Site) -> Iterator[Visitor]:
    """An operator at the overview; a script that failed or broke the policy fails the test."""
    visitor = _visit(browser, site)
    yield visitor
    visitor.page.context.close()
    assert visitor.faults == []


@pytest.fixture
def plain_visitor(browser: Browser, site: Site) -> Iterator[Visitor]:
    """The same without JavaScript."""
    visitor = _visit(browser, site, java_script_enabled=False)
    yield visitor
    visitor.page.context.close()
