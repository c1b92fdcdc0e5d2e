"""Every page there is, light and dark, on a phone, a desk and a wall: nothing for axe, no overflow.

What is looked at is found from the table of routes: a new page is looked at without being named.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import pytest
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.urls import reverse
from playwright.sync_api import Browser, expect

from tasks_app.core.actions.bulks import BulkAction, BulkOrder
from tasks_app.models import AuditEntry, Limit
from tasks_app.sdk.link import Grant, Progress
from tasks_app.sdk.task_log import LogLine
from tasks_app.services.actions import bulks
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.people.people import Actor, Role
from tasks_app.services.settings.configuration import note_change
from tests.access.routes import PAGES
from tests.browser.conftest import Site, Visitor, visit
from tests.people import PeopleFloor

NO_PAGES: Final = {
    "healthz",
    "readyz",
    "series/",
    "tasks/complete/",
    "api/v1/docs",  # Swagger's own page; that it works is tested below
}
"""What is fetched or drawn into a page, beside exports and files of code."""

OUTSIDE: Final = {
    "login/": "login/",
    "password/reset/": "password/reset/",
    "password/reset/sent/": "password/reset/sent/",
    "password/reset/<uidb64>/<token>/": "password/reset/x/y/",
}
"""What is seen without a log-in."""

TRACEBACK: Final = (
    'Traceback (most recent call last):\n  File "/srv/shop/a-module-with-a-long-name/mail.py", '
    "line 7, in send_the_letter\n    post(letter, retries=3)\nshop.MailError: no such address\n"
)


class Everything(PeopleFloor):
    """A floor on which something of each sort has happened."""

    def happen(self) -> Mapping[str, Any]:
        """Let it; return what stands for each variable of a route."""
        self.lead()
        limit = Limit.objects.create(name="mail-api", max_concurrent=1)
        worker = self.hire("w1", slots=30)
        self.kind("a", limit=limit, description="Sends a letter to somebody.")
        self.kind("held", quarantined_at="2030-01-01T00:00:00Z", paused=True)
        self.people_do(description="A look at what the machine flagged.")
        self.submit(2, kind="held")
        dead = [self._die(n) for n in range(3)]
        job = self.job(
            [
                {"name": "look", "kind": "b", "compensation": "undo_b"},
                {"name": "each", "kind": "b", "for_each": {"$result": "look"}},
                {"name": "ask", "kind": "review", "depends_on": ["look"]},
            ],
            name="the evening's run",
        )
        self.complete("w1", self.next(), [1, 2])
        self.fail("w1", self.all_next()[0], type="shop.MailError", message="no", permanent=True)
        (step,) = self.submit(1, kind="review")
        self.until_still()
        self.take(step)
        ada = Actor("ada", "192.0.2.7", role=Role.ADMIN)
        order = BulkOrder(BulkAction.REQUEUE, reason="mended", key=bulks.new_key())
        bulk = bulks.begin(order, dead[:1], ada)
        assert bulk is not None
        self.work_off()
        return {
            "dead": dead[1],
            "step": step,
            "job_id": job,
            "worker_id": worker,
            "bulk_id": bulk.id,
            "fingerprint": self.task(dead[1]).fingerprint,
            "number": AuditEntry.objects.latest("id").pk,
        }

    def _die(self, n: int) -> Any:
        (task,) = self.submit(1, kind="a", key=f"letter-{n}")
        grant = self.next()
        self._say(grant)
        self.fail(
            "w1",
            grant,
            type="shop.MailError",
            message="no such address",
            traceback=TRACEBACK,
            permanent=True,
        )
        return task

    def _say(self, grant: Grant) -> None:
        lines = [LogLine(1.0, "INFO", "a letter is written"), LogLine(2.0, "ERROR", "x" * 300)]
        said = Progress(grant.token, 0.5, note="half of it is written", lines=lines)
        worker_protocol.heartbeat(self.workers["w1"], [grant.token], [said])


QUERIES: Final = {
    "kinds/switch/": "?kind=a",
    "dead-letters/requeue/": "?id={dead}&canary=1",
    "dead-letters/dismiss/": "?id={dead}",
    "acts/<str:action>/": "?id={dead}",
    "tasks/searches/save/": "?q=status:dead",
}
"""What an address asks about."""


def address_of(route: str, about: Mapping[str, Any]) -> str:
    """The route with what stands for its variables."""
    task = about["step"] if route.startswith("inbox/") else about["dead"]
    known = {**about, "task_id": task, "action": "priority"}
    path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(known[found[1]]), route)
    return f"/{path}{QUERIES.get(route, '').format(**about)}"


def pages() -> list[str]:
    """Every page for people who are logged in."""
    looked_at = {
        route
        for route, rule in PAGES.items()
        if rule.get is not None and not route.endswith(("export/", ".js", ".json"))
    }
    return sorted(looked_at - NO_PAGES - set(OUTSIDE))


def judge(visitor: Visitor, address: str, *, by_axe: bool = True) -> list[str]:
    """Open a page and say what is wrong with it, on the window as it is."""
    answer = visitor.page.goto(visitor.address + address)
    assert answer is not None
    assert answer.status == 200, f"{address}: {answer.status}"
    faults = [f"{address}: {fault}" for fault in visitor.faults]
    if by_axe:
        faults += [f"{address}: {found}" for found in visitor.axe()]
    # The styles that axe itself tries to set are not the page's.
    visitor.faults.clear()
    if visitor.overflow() > 0:
        faults.append(f"{address}: wider than the window by {visitor.overflow()} px")
    return faults


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("theme", "width", "by_axe"),
    # The theme decides on contrasts and the width on order: two of the five say all that axe finds.
    # At 800 tables are neither stacked nor have they room.
    [("dark", 390, True), ("light", 800, False), ("light", 1440, True), ("light", 2560, False)],
)
def test_every_page_is_readable_by_everybody_on_every_screen(
    browser: Browser, site: Site, theme: str, width: int, by_axe: bool
) -> None:
    about = Everything().happen()
    visitor = visit(browser, site, color_scheme=theme)
    visitor.page.set_viewport_size({"width": width, "height": 900})
    addresses = [address_of(route, about) for route in pages()]
    faults = [fault for each in addresses for fault in judge(visitor, each, by_axe=by_axe)]
    visitor.page.context.close()
    options: Any = {"color_scheme": theme, "viewport": {"width": width, "height": 900}}
    context = browser.new_context(**options)
    stranger = Visitor(context.new_page(), site.address, [])
    for address in OUTSIDE.values():
        faults += judge(stranger, f"/{address}", by_axe=by_axe)
    context.close()
    assert faults == [], json.dumps(faults, indent=1)


def admin_pages() -> list[str]:
    """The admin's lists, and of the first of each list its form, its history and its end."""
    found = [reverse("admin:index")]
    for model in admin.site._registry:
        if model._meta.app_label == "axes":
            continue
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        found += [reverse(f"{name}_changelist"), reverse(f"{name}_add")]
        first = model._default_manager.first()
        if first is not None:
            verbs = ("change", "history", "delete")
            found += [reverse(f"{name}_{verb}", args=[quote(first.pk)]) for verb in verbs]
    return found


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1440)])
def test_every_page_of_the_admin_is_readable_by_everybody(
    browser: Browser, site: Site, theme: str, width: int
) -> None:
    Everything().happen()
    ada = Actor("ada.the.administrator", "192.0.2.7", role=Role.ADMIN)
    change = ({"timeout_seconds": 900.0}, {"timeout_seconds": 30.0})
    note_change(ada, "kind", "a", change, reason="letters hang at night")
    visitor = visit(browser, site, color_scheme=theme)
    visitor.page.set_viewport_size({"width": width, "height": 900})
    faults = []
    for address in admin_pages():
        answer = visitor.page.goto(visitor.address + address)
        assert answer is not None
        # Some things cannot be added or ended by hand: that is a page too.
        assert answer.status in (200, 403), f"{address}: {answer.status}"
        faults += [f"{address}: {found}" for found in (*visitor.faults, *visitor.axe())]
        visitor.faults.clear()
        if visitor.overflow() > 0:
            faults.append(f"{address}: wider than the window by {visitor.overflow()} px")
    visitor.page.context.close()
    assert faults == [], json.dumps(faults, indent=1)


def test_nothing_is_left_out_but_what_is_no_page() -> None:
    assert len(pages()) > 30
    assert set(PAGES) >= NO_PAGES
    assert set(OUTSIDE) <= set(PAGES)


def test_the_api_documents_itself_under_the_site_s_own_policy(site: Site, visitor: Visitor) -> None:
    visitor.go("/api/v1/docs")
    expect(visitor.page.get_by_text("Submit one task, or up to 10,000 at once")).to_be_visible()
