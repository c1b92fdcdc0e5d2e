"""Lists and details as an operator uses them: acts, keys, live tables, small screens."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from tasks_app.core.states import Status
from tasks_app.models import AuditEntry
from tests.browser.conftest import Site, Visitor
from tests.web.conftest import died

NASTY = "<img src=x onerror=\"document.title='run'\"></script><script>document.title='run'</script>"


@pytest.fixture
def dead(site: Site) -> Sequence[UUID]:
    """Three dead letters of one cause, moved by hand, no process but the web's."""
    site.floor.lead()
    site.floor.worker("w1", skills={"job": 1.0})
    return [died(site.floor, "w1", message=f"ticket {n} is empty", key=f"t-{n}") for n in range(3)]


def row(page: Page, task: UUID) -> str:
    return f'tr[data-id="{task}"]'


def test_a_dead_task_is_requeued_in_the_browser_and_seen_to_complete(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.page
    (site.folder / "broken").touch()
    site.supervise()
    site.work("w1")
    (task,) = site.floor.submit(1, kind="mend")
    visitor.go("/dead-letters/")
    expect(page.locator(row(page, task))).to_be_visible()
    (site.folder / "broken").unlink()
    page.locator(row(page, task)).get_by_role("link", name="Requeue…").click()
    dialog = page.locator("#act")
    expect(dialog).to_contain_text("Requeue 1 task?")
    dialog.get_by_label("Reason").fill("the part is mended")
    dialog.get_by_role("button", name="Requeue 1").click()
    expect(page.locator(".toast")).to_contain_text("1 requeued.")
    visitor.go(f"/tasks/{task}/")
    expect(page.locator("h1 + .big")).to_have_text("●Completed")
    expect(page.locator("#task-live")).to_contain_text("mended")
    assert AuditEntry.objects.get().reason == "the part is mended"


def test_a_task_page_follows_its_task_without_a_reload(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    (task,) = site.floor.submit(1, kind="mend")
    visitor.go(f"/tasks/{task}/")
    expect(page.locator(".checks .no")).to_have_count(2)
    site.supervise()
    expect(page.locator(".checks .no")).to_have_count(1)
    expect(page.locator(".checks .no")).to_contain_text("No live worker can do it")
    site.work("w1")
    expect(page.locator("h1 + .big")).to_have_text("●Completed")


def test_keys_select_and_dismiss_with_a_reason(
    site: Site, visitor: Visitor, dead: Sequence[UUID]
) -> None:
    page = visitor.page
    visitor.go("/dead-letters/")
    for key in ("j", "x", "j", "x", "d"):
        page.keyboard.press(key)
    dialog = page.locator("#act")
    expect(dialog).to_contain_text("Dismiss 2 tasks?")
    dialog.get_by_role("button", name="Dismiss 2").click()
    expect(dialog).to_be_visible()
    dialog.get_by_label("Reason").fill("tickets without text")
    dialog.get_by_role("button", name="Dismiss 2").click()
    expect(page.locator(".toast")).to_contain_text("Dismiss 2 tasks. It begins in")
    site.floor.work_off()
    assert [site.floor.status(task) for task in dead] == [
        Status.DEAD,
        Status.DISMISSED,
        Status.DISMISSED,
    ]


def test_a_dialog_is_left_by_escape_and_by_its_own_way_out(
    site: Site, visitor: Visitor, dead: Sequence[UUID]
) -> None:
    page = visitor.page
    visitor.go("/dead-letters/")
    dialog = page.locator("#act")
    for escape in (True, False):
        page.get_by_role("link", name="Requeue 3…").click()
        expect(dialog).to_be_visible()
        if escape:
            page.keyboard.press("Escape")
        else:
            dialog.get_by_role("link", name="Leave them").click()
        expect(dialog).not_to_be_visible()
    assert page.url.endswith("/dead-letters/")
    assert {site.floor.status(task) for task in dead} == {Status.DEAD}


def test_a_live_table_keeps_selection_and_focus(
    site: Site, visitor: Visitor, dead: Sequence[UUID]
) -> None:
    page = visitor.page
    visitor.go("/dead-letters/")
    box = page.locator(row(page, dead[1])).get_by_role("checkbox")
    box.check()
    box.focus()
    late = died(site.floor, "w1", message="another cause")
    page.evaluate("document.body.dispatchEvent(new CustomEvent('chargehand:changed'))")
    expect(page.locator(row(page, late))).to_be_visible()
    expect(box).to_be_checked()
    expect(box).to_be_focused()
    expect(page.locator("[data-selected]")).to_have_text("1")


def test_a_reload_keeps_what_is_selected_and_a_page_opened_anew_has_nothing(
    site: Site, visitor: Visitor, dead: Sequence[UUID]
) -> None:
    page = visitor.page
    visitor.go("/dead-letters/")
    box = page.locator(row(page, dead[1])).get_by_role("checkbox")
    box.check()
    page.reload()
    expect(box).to_be_checked()
    expect(page.locator("[data-selected]")).to_have_text("1")
    visitor.go("/workers/")
    page.go_back()
    expect(box).to_be_checked()
    visitor.go("/workers/")
    visitor.go("/dead-letters/")
    expect(box).not_to_be_checked()


def test_an_open_traceback_stays_open_while_the_page_is_live(site: Site, visitor: Visitor) -> None:
    page, floor = visitor.page, site.floor
    floor.lead()
    floor.worker("w1")
    (task,) = floor.submit(1)
    floor.round()
    floor.fail("w1", floor.claim("w1")[0], traceback="File handlers.py, line 7")
    visitor.go(f"/tasks/{task}/")
    page.get_by_text("Traceback").click()
    floor.backoff_over(task)
    floor.round()
    page.evaluate("document.body.dispatchEvent(new CustomEvent('chargehand:changed'))")
    expect(page.locator("h1 + .big")).not_to_contain_text("Failed")
    expect(page.get_by_text("File handlers.py, line 7")).to_be_visible()


def test_everything_works_without_javascript(
    site: Site, plain_visitor: Visitor, dead: Sequence[UUID]
) -> None:
    page = plain_visitor.page
    plain_visitor.go("/tasks/?status=dead")
    page.locator(row(page, dead[0])).get_by_role("checkbox").check()
    page.get_by_role("button", name="Requeue…").click()
    page.get_by_role("button", name="Requeue 1").click()
    expect(page.locator(".toast")).to_contain_text("1 requeued.")
    assert page.url.endswith("/tasks/?status=dead")
    plain_visitor.go("/workers/")
    page.get_by_role("button", name="Drain w1").click()
    expect(page.get_by_role("button", name="Resume w1")).to_be_visible()
    assert site.floor.status(dead[0]) is Status.PENDING


def test_what_handlers_and_submitters_wrote_never_runs(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    site.floor.lead()
    site.floor.worker("w1", skills={NASTY: 1.0})
    task = died(site.floor, "w1", message=NASTY, kind=NASTY, key=NASTY)
    for path in ("/", "/tasks/", f"/tasks/{task}/", "/dead-letters/", "/workers/", "/admin/"):
        visitor.go(path)
        page.wait_for_load_state("networkidle")
        assert page.title() != "run"
        assert page.locator("img[src=x]").count() == 0
    visitor.go(f"/tasks/{task}/")
    expect(page.locator("h1")).to_have_text(NASTY)


def test_what_is_empty_or_cannot_run_is_readable_by_everybody(site: Site, visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 390, "height": 900})
    (waiting,) = site.floor.submit(1, kind="nobody_does_this")
    empty = ("/tasks/?q=nothing-like-it", "/dead-letters/", "/jobs/", "/inbox/", "/acts/")
    for path in (*empty, f"/tasks/{waiting}/"):
        visitor.go(path)
        assert visitor.axe() == [], path
        assert visitor.overflow() <= 0, path
