"""The shop floor at work: what handlers log, kinds held back, a frozen worker, the supervisor."""

import os
import signal
from uuid import UUID

import pytest
from playwright.sync_api import expect

from tasks_app.core.states import Status
from tasks_app.models import Attempt, AuditEntry, Kind, Lease, Task, Worker
from tests.browser.conftest import Site, Visitor
from tests.browser.test_people import focus_on
from tests.waiting import wait_for


def runs_on(task: UUID, worker: str) -> bool:
    """Whether a worker has begun a task and holds it."""
    held = Lease.objects.filter(task_id=task, worker__name=worker, started_at__isnull=False)
    return held.exists()


def test_what_a_handler_logs_arrives_on_the_task_s_page_while_it_runs(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.page
    site.floor.settings(heartbeat_seconds=1)
    site.supervise()
    site.work("w1")
    (task,) = site.floor.submit(1, kind="tell")
    visitor.go(f"/tasks/{task}/")
    expect(page.locator("h1 + .big")).to_contain_text("Running")
    log = page.locator("details.log")
    log.locator("summary").click()
    expect(log.locator("li")).to_have_count(1)
    expect(log.locator("li.info")).to_contain_text("opened 0")
    (site.folder / "enough").touch()
    expect(page.locator("h1 + .big")).to_have_text("●Completed")
    expect(page.locator("details.log li")).to_have_count(2)
    closed = page.locator("details.log li.warning")
    expect(closed).to_contain_text("closed with <b>nothing</b> left")
    expect(closed.locator("b")).to_have_count(0)


def test_a_worker_s_errors_have_room_beside_the_ids_of_tasks(site: Site, visitor: Visitor) -> None:
    worker = site.floor.worker("w1")
    site.floor.submit(1, key=None)
    site.floor.round()
    (grant,) = site.floor.claim("w1")
    site.floor.fail("w1", grant, type="json.JSONDecodeError", message="a comma " * 20)
    visitor.page.set_viewport_size({"width": 1440, "height": 900})
    visitor.go(f"/workers/{worker}/")
    error = visitor.page.locator("table.recent td.wide")
    expect(error).to_contain_text("JSONDecodeError")
    box, card = error.bounding_box(), visitor.page.locator("main .card", has=error).bounding_box()
    assert box is not None
    assert card is not None
    assert box["width"] >= 200
    assert box["x"] + box["width"] <= card["x"] + card["width"], "nothing of it is cut off"


def test_a_kind_is_paused_resumed_and_freed_by_keys_with_a_reason(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.page
    site.floor.kind("mend", quarantined_at="2030-01-01T00:00:00Z")
    visitor.go("/kinds/")
    row = page.locator("#kind-mend")
    expect(row).to_contain_text("In quarantine")
    focus_on(page, "Reason")
    page.keyboard.type("the part is here")
    page.keyboard.press("Enter")
    focus_on(page, "Free")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("quarantine is over")
    expect(row).not_to_contain_text("In quarantine")
    assert not Kind.objects.get().paused, "Enter in the field of the reason does nothing"
    focus_on(page, "Reason")
    page.keyboard.type("the part is broken again")
    focus_on(page, "Pause")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("paused. No task of this kind begins")
    expect(row).to_contain_text("Paused")
    focus_on(page, "Resume")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("it is handed out again")
    expect(row).to_contain_text("Open")
    told = AuditEntry.objects.order_by("id").values_list("action", "reason")
    assert [reason for _, reason in told] == ["the part is here", "the part is broken again", ""]


def test_a_kind_held_back_elsewhere_shows_without_a_reload(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    site.floor.kind("mend")
    visitor.go("/kinds/")
    expect(page.locator("#kind-mend")).to_contain_text("Open")
    page.get_by_label("Reason").fill("half a thought")
    Kind.objects.update(paused=True)
    expect(page.locator("#kind-mend")).to_contain_text("Paused")
    expect(page.get_by_label("Reason")).to_have_value("half a thought")


def test_a_frozen_worker_is_evicted_and_another_does_its_task(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    site.supervise()
    frozen = site.work("w1")
    (task,) = site.floor.submit(1, kind="tell")
    wait_for(lambda: runs_on(task, "w1"), "w1 to begin", 40)
    os.kill(frozen.pid, signal.SIGSTOP)
    site.work("w2")
    visitor.go("/workers/")
    page.get_by_role("link", name="w1").click()
    page.locator("#act-evict").click()
    dialog = page.locator("#act")
    expect(dialog).to_contain_text("It holds 1 task, 1 of them running")
    assert visitor.axe() == []
    # The browser itself asks for what is required.
    dialog.get_by_role("button", name="Evict the worker").click()
    expect(dialog.get_by_label("Reason")).to_be_focused()
    assert runs_on(task, "w1")
    page.keyboard.type("it hangs")
    dialog.get_by_role("button", name="Evict the worker").click()
    expect(page.locator(".toast")).to_contain_text("It is evicted; 1 of its tasks goes to others.")
    visitor.go(f"/tasks/{task}/")
    expect(page.locator("#task-live")).to_contain_text("w2")
    wait_for(lambda: runs_on(task, "w2"), "w2 to begin", 40)
    (site.folder / "enough").touch()
    expect(page.locator("h1 + .big")).to_have_text("●Completed")
    assert Attempt.objects.get(task_id=task, outcome="completed").worker.name == "w2"
    assert Task.objects.get(id=task).attempts == 1, "an eviction uses up no attempt"
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.reason) == ("evict", "it hangs")
    os.kill(frozen.pid, signal.SIGCONT)
    # Awake again it learns that it was replaced, registers anew, and changes nothing.
    boots = Worker.objects.filter(name="w1", state="active")
    wait_for(boots.exists, "w1 to be back", 40)
    assert site.floor.status(task) is Status.COMPLETED
    assert Attempt.objects.filter(task_id=task, outcome="completed").count() == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_supervisor_is_seen_at_work_and_missed_when_it_is_gone(
    site: Site, visitor: Visitor, theme: str
) -> None:
    page = visitor.page
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    visitor.go("/supervisor/")
    expect(page.locator(".alert")).to_contain_text("No round was ever recorded")
    assert visitor.axe() == []
    leader = site.supervise()
    expect(page.locator("h1 + .big")).to_contain_text("On duty")
    expect(page.locator(".alert")).to_have_count(0)
    expect(page.get_by_text("leads now")).to_be_visible()
    assert visitor.axe() == []
    for width in (390, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        assert visitor.overflow() <= 0
    leader.kill()
    expect(page.locator("h1 + .big")).to_contain_text("Off duty")
    expect(page.locator(".alert")).to_contain_text("No supervisor is on duty.")
