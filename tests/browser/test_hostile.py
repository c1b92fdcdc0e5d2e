"""What strangers wrote is text on every page: no script of theirs runs, no request is theirs."""

import re
from urllib.parse import urlencode
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from tasks_app.models import AuditEntry, Kind, Limit
from tasks_app.services.actions.operations import dismiss
from tasks_app.services.people.people import Actor, Role
from tests.browser.conftest import Site, Visitor
from tests.jobs import JobFloor

HOSTILE = (
    "<img src=x onerror=\"window.ran='img'\">",
    "</script><script>window.ran='script'</script>",
    "<svg onload=\"window.ran='svg'\"></svg>",
    "<b hx-get='/stolen' hx-trigger='load' hx-on::load=\"window.ran='hx'\">b</b>",
    "<a href=\"javascript:window.ran='link'\">a</a>",
    "{{7*7}}{% load x %}${7*7}",
    "\u202egnp.exe\u2066 rtl \u2069",
    "a\r\nSet-Cookie: stolen=1\r\n\r\n<h1>",
    "'\"><style>*{display:none}</style>",
)
ALL = " ".join(HOSTILE)


@pytest.fixture
def floor(site: Site) -> JobFloor:
    """Everything that a stranger can name has a hostile name."""
    floor = JobFloor()
    floor.lead()
    floor.hire("w1", slots=9)
    for n, text in enumerate(HOSTILE):
        name = text[:90]
        Kind.objects.create(name=name, description=text, payload_schema={"title": text})
        floor.worker(name[:80] + str(n), skills={name: 1.0})
        floor.submit(1, kind=name, key=text[:190], lock_key=text[:190])
    Limit.objects.create(name=HOSTILE[0][:90], max_concurrent=1)
    return floor


def moved(floor: JobFloor) -> dict[str, UUID]:
    """A job, a dead letter and a dismissed one, each with hostile contents; their ids."""
    job = floor.job(
        [
            {"name": "first", "kind": "a", "payload": {"text": ALL, ALL[:60]: [ALL]}},
            {"name": "second", "kind": "b", "payload": {}, "depends_on": ["first"]},
        ],
        name=HOSTILE[1][:90],
        key=HOSTILE[0][:190],
    )
    first = floor.next()
    floor.complete("w1", first, {"label": ALL})
    second = floor.next()
    floor.fail("w1", second, type=HOSTILE[1][:100], message=ALL, traceback=ALL, permanent=True)
    (closed,) = floor.submit(1, kind="a")
    grant = floor.next()
    floor.fail("w1", grant, type="ValueError", message=ALL, permanent=True)
    dismiss([closed], Actor(HOSTILE[0][:100], HOSTILE[0][:60], role=Role.ADMIN), ALL)
    return {
        "job": job,
        "task": first.task_id,
        "dead": second.task_id,
        "worker": floor.workers["w1"],
    }


def test_no_page_runs_what_was_written_into_the_record(
    site: Site, visitor: Visitor, floor: JobFloor
) -> None:
    ids = moved(floor)
    User.objects.create_user(HOSTILE[4][:100])
    page, asked = visitor.page, []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: visitor.faults.append(f"a dialog: {dialog.message}"))
    kind = Kind.objects.exclude(name__in="ab").order_by("name")[0]
    entry = AuditEntry.objects.order_by("-id")[0]
    paths = [
        "/",
        "/tasks/",
        f"/tasks/{ids['task']}/",
        f"/tasks/{ids['dead']}/",
        "/jobs/",
        f"/jobs/{ids['job']}/",
        "/inbox/",
        "/dead-letters/",
        f"/dead-letters/requeue/?id={ids['dead']}",
        "/acts/",
        "/workers/",
        *(f"/workers/{worker}/" for worker in list(floor.workers.values())[:3]),
        "/supervisor/",
        "/audit/",
        f"/audit/{entry.pk}/",
        "/account/",
        "/admin/",
        "/admin/tasks_app/kind/",
        "/admin/tasks_app/limit/",
        "/admin/tasks_app/auditentry/",
        "/admin/auth/user/",
        f"/admin/tasks_app/kind/{quoted(kind.name)}/change/",
        f"/admin/tasks_app/kind/{quoted(kind.name)}/history/",
    ]
    for path in paths:
        visitor.go(path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.ran") is None, path
        assert page.evaluate("document.querySelectorAll('[hx-get=\"/stolen\"]').length") == 0, path
        assert page.evaluate("getComputedStyle(document.body).display") != "none", path
        assert not re.search(r"49\{%|\$49|%\}49", page.content()), f"reckoned at {path}"
        assert visitor.faults == [], path
    assert not [url for url in asked if not url.startswith(site.address)]
    assert not [url for url in asked if "stolen" in url]


def quoted(name: str) -> str:
    """A name as Django's admin writes it into an address."""
    from django.contrib.admin.utils import quote

    return str(quote(name))


def test_no_address_runs_what_is_written_into_it(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    names = ("q", "kind", "actor", "action", "text", "next", "cause", "sort", "cols")
    query = urlencode(dict.fromkeys(names, ALL))
    for path in ("/tasks/", "/dead-letters/", "/audit/", "/jobs/", "/acts/"):
        visitor.go(f"{path}?{query}")
        assert page.evaluate("window.ran") is None, path
        assert page.evaluate("document.querySelectorAll('[hx-get=\"/stolen\"]').length") == 0
