"""Acts on many tasks as an operator does them: undo, progress, canaries, edits, the audit."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from tasks_app.core.states import Status
from tasks_app.models import AuditEntry, Bulk, Task
from tests.browser.conftest import Site, Visitor
from tests.waiting import wait_for
from tests.web.conftest import died


@pytest.fixture
def dead(site: Site) -> Sequence[UUID]:
    """Three dead letters of one error, moved by hand, no process but the web's."""
    site.floor.lead()
    site.floor.worker("w1", skills={"job": 1.0})
    return [died(site.floor, "w1", message=f"ticket {n} is empty", key=f"t-{n}") for n in range(3)]


@pytest.fixture
def broken(site: Site) -> Sequence[UUID]:
    """Three tasks that a real worker lets die of the same."""
    (site.folder / "broken").touch()
    site.supervise()
    site.work("w1")
    ids = site.floor.submit(3, kind="mend")
    wait_for(lambda: Task.objects.filter(status=Status.DEAD).count() == 3, "three deaths", 40)
    return ids


def open_group(visitor: Visitor, task: UUID) -> None:
    visitor.go(f"/dead-letters/{Task.objects.get(id=task).fingerprint}/")


def confirm(page: Page, button: str, reason: str = "") -> None:
    dialog = page.locator("#act")
    if reason:
        dialog.get_by_label("Reason").fill(reason)
    dialog.get_by_role("button", name=button).click()


def test_a_group_is_requeued_after_its_hold_and_seen_to_complete(
    site: Site, visitor: Visitor, broken: Sequence[UUID]
) -> None:
    page = visitor.page
    open_group(visitor, broken[0])
    expect(page.get_by_role("heading", level=1)).to_contain_text("PermanentError")
    (site.folder / "broken").unlink()
    page.locator("#act-requeue").click()
    expect(page.locator("#act")).to_contain_text("Requeue 3 tasks?")
    expect(page.locator("#act")).to_contain_text("of work for the 1 worker that can do it")
    confirm(page, "Requeue 3", "the part is mended")
    toast = page.locator(".toast")
    expect(toast).to_contain_text("Requeue 3 tasks. It begins in")
    toast.get_by_role("link", name="Watch it").click()
    expect(page.locator("#bulk-live")).to_contain_text("Held: nothing is touched yet")
    site.floor.end_holds()
    expect(page.locator("h1 + .big")).to_contain_text("Done")
    expect(page.locator("#bulk-live")).to_contain_text("3 of 3: 3 moved, 0 refused")
    wait_for(
        lambda: Task.objects.filter(status=Status.COMPLETED).count() == 3, "all to complete", 40
    )
    page.reload()
    expect(page.locator("tbody .st.completed")).to_have_count(3)
    assert AuditEntry.objects.get().reason == "the part is mended"


def test_a_canary_stops_by_itself_and_shows_its_waves(
    site: Site, visitor: Visitor, broken: Sequence[UUID]
) -> None:
    page = visitor.page
    open_group(visitor, broken[0])
    page.locator("#act-canary").click()
    expect(page.get_by_label("Canary: one, then ten, then all")).to_be_checked()
    confirm(page, "Requeue 3")
    page.get_by_role("link", name="Watch it").click()
    site.floor.end_holds()
    expect(page.locator("#bulk-live")).to_contain_text("It stopped by itself.")
    expect(page.locator("#bulk-live")).to_contain_text("The same error came back")
    expect(page.locator(".waves li").first).to_contain_text("1 of 1 · 1 failed the same way")
    expect(page.locator(".waves li").nth(1)).to_contain_text("0 of 2")
    assert Task.objects.filter(requeues=1).count() == 1


def test_undo_in_the_toast_takes_all_of_it_back(
    site: Site, visitor: Visitor, dead: Sequence[UUID]
) -> None:
    page = visitor.page
    visitor.go("/dead-letters/")
    page.get_by_role("link", name="Dismiss… all of ValidationError").click()
    confirm(page, "Dismiss 3", "spam")
    toast = page.locator(".toast")
    expect(toast).to_contain_text("begins in")
    toast.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("Undone: none of the 3 tasks was touched.")
    site.floor.work_off()
    assert {site.floor.status(task) for task in dead} == {Status.DEAD}


def test_an_undo_ends_with_the_hold(site: Site, visitor: Visitor, dead: Sequence[UUID]) -> None:
    page = visitor.page
    page.clock.install()
    visitor.go("/dead-letters/")
    page.get_by_role("link", name="Requeue 3…").click()
    confirm(page, "Requeue 3")
    expect(page.locator(".toast")).to_contain_text("begins in")
    page.clock.run_for(11_000)
    expect(page.locator(".toast")).to_contain_text("has begun")
    expect(page.locator(".toast").get_by_role("button", name="Undo")).to_have_count(0)


def test_a_bulk_that_waits_for_its_wave_is_aborted(
    site: Site, visitor: Visitor, dead: Sequence[UUID]
) -> None:
    page = visitor.page
    visitor.go("/dead-letters/")
    page.get_by_role("link", name="Requeue 3…").click()
    page.get_by_label("Canary: one, then ten, then all").check()
    confirm(page, "Requeue 3")
    page.get_by_role("link", name="Watch it").click()
    site.floor.work_off()
    page.get_by_role("button", name="Abort").click()
    expect(page.locator(".toast")).to_contain_text("Aborted: 2 tasks stay as they are.")
    expect(page.locator("h1 + .big")).to_contain_text("Aborted")
    assert Task.objects.filter(requeues=1).count() == 1


def test_a_double_click_begins_one_bulk(site: Site, visitor: Visitor, dead: Sequence[UUID]) -> None:
    page = visitor.page
    visitor.go("/dead-letters/")
    page.get_by_role("link", name="Requeue 3…").click()
    page.locator("#act").get_by_role("button", name="Requeue 3").dblclick()
    expect(page.locator(".toast")).to_contain_text("Requeue 3 tasks")
    assert (Bulk.objects.count(), AuditEntry.objects.count()) == (1, 1)


def test_a_payload_is_edited_wrongly_then_rightly_and_requeued(
    site: Site, visitor: Visitor, dead: Sequence[UUID]
) -> None:
    page = visitor.page
    site.floor.kind("job", payload_schema={"type": "object", "required": ["text"]})
    visitor.go(f"/tasks/{dead[0]}/")
    page.get_by_role("link", name="Edit and requeue…").click()
    page.get_by_label("Payload (JSON)").fill('{"n": 0}')
    page.get_by_role("button", name="Write and requeue").click()
    expect(page.get_by_role("alert")).to_contain_text("'text' is a required property")
    assert visitor.axe() == []
    page.get_by_label("Payload (JSON)").fill('{"n": 0, "text": "hello"}')
    page.get_by_role("button", name="Write and requeue").click()
    expect(page.locator(".toast")).to_contain_text("1 change, and requeued.")
    expect(page.locator(".change ins")).to_have_text('"hello"')


def test_the_selection_of_a_list_is_cancelled_by_keys(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    site.floor.lead()
    waiting = site.floor.submit(3)
    visitor.go("/tasks/")
    for key in ("j", "x", "j", "x"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Cancel…").click()
    expect(page.locator("#act")).to_contain_text("Cancel 2 tasks?")
    confirm(page, "Cancel 2", "spam")
    expect(page.locator(".toast")).to_contain_text("Cancel 2 tasks. It begins in")
    site.floor.work_off()
    assert [site.floor.status(task) for task in waiting] == [
        Status.PENDING,
        Status.CANCELLED,
        Status.CANCELLED,
    ]


def test_many_are_held_and_undone_without_javascript(
    site: Site, plain_visitor: Visitor, dead: Sequence[UUID]
) -> None:
    page = plain_visitor.page
    plain_visitor.go("/dead-letters/")
    page.get_by_role("link", name="Requeue 3…").click()
    page.get_by_role("button", name="Requeue 3").click()
    expect(page.locator(".toast")).to_contain_text("begins within 10 s")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("Undone")
    assert Bulk.objects.get().state == "undone"


def test_the_audit_is_searched_opened_and_exported(
    site: Site, visitor: Visitor, dead: Sequence[UUID]
) -> None:
    page = visitor.page
    visitor.go("/dead-letters/")
    page.get_by_role("link", name="Dismiss… all of ValidationError").click()
    confirm(page, "Dismiss 3", "known since May")
    expect(page.locator(".toast")).to_contain_text("begins in")
    visitor.go("/audit/?text=nothing-like-it")
    expect(page.locator("#audit-table")).to_contain_text("No entry matches")
    page.get_by_label("Text").fill("since May")
    page.get_by_role("button", name="Filter").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export CSV").click()
    assert "known since May" in download.value.path().read_text()
    page.get_by_role("link", name="Dismiss").click()
    expect(page.locator("main")).to_contain_text("status:dead cause:")
    assert visitor.axe() == []


def test_an_act_that_is_held_and_its_waves_are_readable_by_everybody(
    site: Site, visitor: Visitor, dead: Sequence[UUID]
) -> None:
    page = visitor.page
    page.set_viewport_size({"width": 390, "height": 900})
    visitor.go("/dead-letters/")
    page.get_by_role("link", name="Requeue 3…").click()
    page.get_by_label("Canary: one, then ten, then all").check()
    confirm(page, "Requeue 3", "mended")
    expect(page.locator(".toast")).to_contain_text("begins in")
    assert visitor.axe() == []
    site.floor.work_off()
    for path in (f"/acts/{Bulk.objects.get().id}/", f"/acts/deadline/?id={dead[1]}"):
        visitor.go(path)
        assert visitor.axe() == [], path
        assert visitor.overflow() <= 0, path
