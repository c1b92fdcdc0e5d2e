"""Finding and understanding tasks, in a real browser."""

from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import expect

from tasks_app.models import SavedSearch, Task
from tests.browser.conftest import Site, Visitor

# Script tags, handlers, addresses that run, marks that turn the direction, controls, length.
NASTY = (
    "</script><script>window.ran=1</script><img src=x onerror='window.ran=1'>"
    "<svg/onload=window.ran=1> javascript:window.ran=1 {{7*7}} \u202egnp.exe \u2066x\x07"
)


@pytest.fixture
def stocked(site: Site) -> Site:
    """A floor with a dead, a completed, a running and some waiting tasks."""
    floor = site.floor
    floor.kind("mail")
    floor.worker("w1", slots=5)
    floor.submit(1, key="breaks")
    floor.submit(1, key="works")
    floor.submit(1, key="runs")
    floor.round()
    for grant in floor.claim("w1"):
        key = floor.task(grant.task_id).key
        if key == "breaks":
            floor.fail("w1", grant, type="lib.Broken", message="no such letter", permanent=True)
        elif key == "works":
            floor.complete("w1", grant, {"label": "spam", "parts": [{"n": 1}]})
    floor.submit(2, kind="mail")
    return site


def rows(visitor: Visitor) -> list[str]:
    return [row.inner_text() for row in visitor.page.locator("[data-rows] td.main a").all()]


def test_a_query_is_typed_completed_by_keys_shown_as_chips_and_taken_apart(
    stocked: Site, visitor: Visitor
) -> None:
    page = visitor.page
    visitor.go("/tasks/")
    page.keyboard.press("/")
    box = page.get_by_role("combobox", name="Search tasks")
    options = page.locator("#suggestions").get_by_role("option")
    expect(box).to_be_focused()
    page.keyboard.type("sta")
    expect(options).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(box).to_have_value("status:")
    expect(options).to_have_count(9)
    page.keyboard.type("de")
    expect(options).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(box).to_have_value("status:dead ")
    assert visitor.axe() == []
    page.keyboard.type("kind:job")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tasks/?q=status*")
    assert rows(visitor) == ["breaks"]
    page.get_by_role("link", name="Take away status:dead").click()
    page.wait_for_url("**/tasks/?q=kind%3Ajob")
    assert sorted(rows(visitor)) == ["breaks", "runs", "works"]
    assert visitor.axe() == []


def test_a_wrong_query_is_underlined_and_mended_by_a_click(stocked: Site, visitor: Visitor) -> None:
    visitor.go("/tasks/?q=status:ded+kind:job")
    expect(visitor.page.locator("mark")).to_have_text("ded")
    assert visitor.axe() == []
    visitor.page.get_by_role("link", name="status:dead kind:job").click()
    expect(visitor.page.locator("[data-rows] td.main a")).to_have_text("breaks")


def test_new_tasks_wait_behind_their_number_and_a_selection_stays(
    stocked: Site, visitor: Visitor
) -> None:
    page = visitor.page
    visitor.go("/tasks/?q=kind:job")
    page.get_by_role("checkbox", name="Select breaks").check()
    stocked.floor.submit(2, key=None)
    page.evaluate("document.body.dispatchEvent(new CustomEvent('chargehand:changed'))")
    fresh = page.get_by_role("link", name="2 new")
    expect(fresh).to_be_visible()
    assert sorted(rows(visitor)) == ["breaks", "runs", "works"]
    expect(page.get_by_role("checkbox", name="Select breaks")).to_be_checked()
    fresh.click()
    expect(page.locator("[data-rows] tr[data-id]")).to_have_count(5)
    expect(page.get_by_role("checkbox", name="Select breaks")).to_be_checked()


def test_the_menu_of_acts_on_all_stays_open_while_the_list_moves(
    stocked: Site, visitor: Visitor
) -> None:
    page = visitor.page
    visitor.go("/tasks/?q=kind:job")
    page.get_by_text("All that match").click()
    first = page.locator("#all-requeue")
    first.focus()
    stocked.floor.submit(1, key=None)
    page.evaluate("document.body.dispatchEvent(new CustomEvent('chargehand:changed'))")
    expect(page.get_by_role("link", name="1 new")).to_be_visible()
    expect(first).to_be_visible()
    expect(first).to_be_focused()


def test_a_search_is_saved_pinned_and_used_from_the_side_bar(
    stocked: Site, visitor: Visitor
) -> None:
    page = visitor.page
    visitor.go("/tasks/?q=status:dead")
    page.locator("summary", has_text="Searches").click()
    page.get_by_role("link", name="Save this search…").click()
    page.get_by_label("Name").fill("Broken")
    page.get_by_role("button", name="Save", exact=True).click()
    pinned = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Broken")
    expect(pinned).to_be_visible()
    visitor.go("/")
    pinned.click()
    expect(page.locator("[data-rows] td.main a")).to_have_text("breaks")
    visitor.go("/tasks/searches/")
    assert visitor.axe() == []
    page.get_by_role("button", name="Delete Broken").click()
    expect(page.get_by_text("No search is saved yet")).to_be_visible()
    assert not SavedSearch.objects.exists()


def test_without_javascript_one_searches_and_saves_all_the_same(
    stocked: Site, plain_visitor: Visitor
) -> None:
    page = plain_visitor.page
    plain_visitor.go("/tasks/")
    page.get_by_label("Search tasks").fill("status:dead")
    page.keyboard.press("Enter")
    expect(page.locator("[data-rows] td.main a")).to_have_text("breaks")
    plain_visitor.go("/tasks/searches/save/?q=status%3Adead")
    page.get_by_label("Name").fill("Plain")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("link", name="Plain")).to_be_visible()


def test_a_task_tells_why_it_waits_and_what_happened(stocked: Site, visitor: Visitor) -> None:
    page = visitor.page
    waiting = Task.objects.filter(kind="mail").latest("id")
    visitor.go(f"/tasks/{waiting.id}/")
    why = page.get_by_role("region", name="Why is it not running?")
    expect(why).to_contain_text("No live worker can do it")
    expect(why).to_contain_text("w1 offers job")
    assert visitor.axe() == []
    visitor.go(f"/tasks/{Task.objects.get(key='works').id}/")
    timeline = page.get_by_role("region", name="Timeline")
    expect(timeline).to_contain_text("Attempt 1")
    expect(timeline).to_contain_text("Submitted")
    tree = page.get_by_role("region", name="Result")
    expect(tree).to_contain_text('"spam"')
    tree.locator("summary").nth(1).click()
    expect(tree.get_by_text("n", exact=True)).to_be_hidden()
    assert visitor.axe() == []


def test_a_phone_shows_search_list_and_task_without_scrolling_sideways(
    stocked: Site, visitor: Visitor
) -> None:
    page = visitor.page
    page.set_viewport_size({"width": 390, "height": 844})
    dead = Task.objects.get(key="breaks")
    for path in (
        "/tasks/?q=status:dead+kind:job",
        "/tasks/?q=status:ded",
        "/tasks/searches/",
        f"/tasks/{dead.id}/",
    ):
        visitor.go(path)
        assert visitor.overflow() <= 0, path
        assert visitor.axe() == [], path
    visitor.go("/tasks/")
    page.locator("summary", has_text="Columns").click()
    assert visitor.overflow() <= 0
    page.get_by_role("checkbox", name="Priority").check()
    page.get_by_role("button", name="Show").click()
    expect(page.locator("td[data-label=priority]").first).to_be_visible()


def test_nothing_that_was_submitted_or_reported_runs_as_a_script(
    site: Site, visitor: Visitor
) -> None:
    floor, page = site.floor, visitor.page
    floor.worker("w1", skills={"job": 1})
    (task,) = floor.submit(1, key=NASTY.replace("\x07", "")[:190], lock_key="<b>lock</b>")
    Task.objects.filter(id=task).update(
        payload={NASTY.replace("\x07", ""): [NASTY.replace("\x07", ""), "x" * 100_000]}
    )
    floor.round()
    (grant,) = floor.claim("w1")
    floor.fail(
        "w1",
        grant,
        type="lib.<script>window.ran=1</script>",
        message=NASTY,
        traceback=f'  File "/srv/<img src=x onerror=window.ran=1>.py", line 1, in f\n    {NASTY}',
        permanent=True,
    )
    get_user_model().objects.get(username="olivia")
    for path in (
        f"/tasks/{task}/",
        "/tasks/",
        "/tasks/?q=%3Cscript%3Ewindow.ran%3D1%3C%2Fscript%3E",
        "/tasks/?q=status:%22%3Cimg%20src%3Dx%20onerror%3Dwindow.ran%3D1%3E%22",
        "/tasks/searches/save/?q=%22%3Cimg%20src%3Dx%20onerror%3Dwindow.ran%3D1%3E%22",
        "/tasks/complete/?q=kind:%3Cscript%3E",
    ):
        visitor.go(path)
        assert page.evaluate("window.ran") is None, path
        assert "\u202e" not in page.content(), path
    visitor.go("/tasks/")
    page.get_by_role("combobox", name="Search tasks").fill('"<img src=x onerror=window.ran=1>')
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.ran") is None
    assert isinstance(task, UUID)
