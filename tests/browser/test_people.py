"""Settings, roles and passwords as people meet them: in a browser, with a mouse or without."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Group, User
from django.contrib.auth.tokens import default_token_generator
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import Browser, Page, expect

from tasks_app.core.states import Status
from tasks_app.models import AuditEntry, Kind
from tests.browser.conftest import NAME, PASSWORD, Site, Visitor, visit
from tests.waiting import wait_for
from tests.web.conftest import died


def somebody(name: str, group: str) -> User:
    user = User.objects.create_user(name, f"{name}@example.org", PASSWORD)
    user.groups.add(Group.objects.get_or_create(name=group)[0])
    return user


@pytest.fixture
def viewer(browser: Browser, site: Site) -> Iterator[Visitor]:
    """Somebody who may look."""
    somebody("vera", "viewer")
    visitor = visit(browser, site, name="vera")
    yield visitor
    visitor.page.context.close()
    assert visitor.faults == []


def readable(visitor: Visitor) -> None:
    """Nothing for axe to find; the styles that axe itself tries to set are not the page's."""
    before = list(visitor.faults)
    assert before == []
    assert visitor.axe() == []
    visitor.faults.clear()


def test_somebody_logs_in_by_the_form(browser: Browser, site: Site) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{site.address}/kinds/")
    page.get_by_label("User name").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_url(f"{site.address}/kinds/")
    context.close()


def test_a_change_of_settings_is_previewed_and_seen_in_the_next_round(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.page
    site.floor.kind("mend", paused=True)
    (task,) = site.floor.submit(1, kind="mend")
    site.supervise()
    site.work("w1")
    visitor.go("/admin/tasks_app/kind/mend/change/")
    page.get_by_label("Paused").uncheck()
    page.get_by_label("Reason").fill("the part is here")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview")).to_contain_text("resume: 1 tasks that wait may be handed out")
    readable(visitor)
    assert Kind.objects.get(name="mend").paused, "a preview saves nothing"
    page.get_by_role("button", name="Save", exact=True).click()
    visitor.go(f"/tasks/{task}/")
    expect(page.locator("h1 + .big")).to_have_text("●Completed")
    visitor.go("/admin/tasks_app/kind/mend/history/")
    expect(page.locator("table.history")).to_contain_text("paused: true → false")
    expect(page.locator("table.history")).to_contain_text("the part is here")
    readable(visitor)
    page.get_by_role("link", name="Take back…").click()
    expect(page.locator("#content")).to_contain_text("kinds.mend.paused: false -> true")
    page.get_by_role("button", name="Take it back").click()
    expect(page.locator(".messagelist")).to_contain_text("as it was before")
    assert Kind.objects.get(name="mend").paused


def test_a_viewer_finds_walls_and_is_told_whom_to_ask(site: Site, viewer: Visitor) -> None:
    page = viewer.page
    site.floor.lead()
    site.floor.worker("w1")
    task = died(site.floor, "w1")
    for path in ("/dead-letters/", f"/tasks/{task}/", "/workers/"):
        viewer.go(path)
        expect(page.get_by_role("link", name="Requeue…")).to_have_count(0)
        expect(page.get_by_role("button", name="Drain")).to_have_count(0)
    expect(page.get_by_role("link", name="Admin", exact=True)).to_have_count(0)
    for path in (f"/dead-letters/requeue/?id={task}", "/admin/", "/admin/tasks_app/kind/"):
        viewer.go(path)
        expect(page.locator("h1")).to_contain_text(re.compile("not", re.IGNORECASE))
        assert viewer.axe() == []
    assert site.floor.status(task) is Status.DEAD


def test_a_forgotten_password_is_set_by_its_link_and_opens_the_door(
    browser: Browser, site: Site
) -> None:
    user = somebody("vera", "viewer")
    page = browser.new_page()
    page.goto(f"{site.address}/login/")
    page.get_by_role("link", name="Forgotten password").click()
    page.get_by_label("Email").fill("vera@example.org")
    page.get_by_role("button", name="Send the link").click()
    expect(page.locator("h1")).to_have_text("Look into your mail")
    # The web process prints the mail; the test makes the same link from the same record.
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    page.goto(f"{site.address}/password/reset/{uid}/{default_token_generator.make_token(user)}/")
    page.get_by_label("New password:", exact=True).fill("an entirely new phrase")
    page.get_by_label("New password confirmation:").fill("an entirely new phrase")
    page.get_by_role("button", name="Set it").click()
    expect(page.locator(".toast")).to_contain_text("log in with it")
    page.get_by_label("User name").fill("vera")
    page.get_by_label("Password").fill("an entirely new phrase")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{site.address}/")
    page.context.close()


def focus_on(page: Page, name: str) -> None:
    """Press Tab until the element of this name has the focus, as somebody without a mouse does."""
    for _ in range(80):
        page.keyboard.press("Tab")
        told = page.evaluate(
            "(document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent"
            " ?? '').trim() || document.activeElement.value"
        )
        if told == name:
            return
    raise AssertionError(f"Tab never reaches {name}")


def test_one_logs_in_chooses_times_changes_a_setting_and_leaves_by_keys_alone(
    browser: Browser, site: Site
) -> None:
    site.floor.kind("mend")
    page = browser.new_page()
    page.goto(f"{site.address}/login/")
    focus_on(page, "User name")
    page.keyboard.type(NAME)
    focus_on(page, "Password")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.address}/")
    page.goto(f"{site.address}/account/")
    expect(page.locator("h1")).to_have_text("Account")
    focus_on(page, "UTC")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="UTC")).to_have_attribute("aria-pressed", "true")
    page.goto(f"{site.address}/admin/tasks_app/kind/mend/change/")
    page.get_by_label("Max attempts").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    # What Enter does is safe: it shows what the change would do.
    expect(page.locator("#preview")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".messagelist")).to_be_visible()
    assert Kind.objects.get(name="mend").max_attempts == 5
    page.goto(f"{site.address}/")
    focus_on(page, NAME)
    page.keyboard.press("Enter")
    focus_on(page, "Log out")
    page.keyboard.press("Enter")
    expect(page.get_by_label("User name")).to_be_visible()
    page.context.close()


def test_times_are_read_in_utc_where_one_asks_for_it(browser: Browser, site: Site) -> None:
    visitor = visit(browser, site, timezone_id="Asia/Kathmandu")
    page = visitor.page
    visitor.go("/account/")
    instant = page.locator("td time").first
    utc = str(instant.get_attribute("title"))
    expect(instant).not_to_contain_text(utc[11:19])
    page.get_by_role("button", name="UTC").click()
    expect(instant).to_contain_text(utc[11:19])
    page.reload()
    expect(page.locator("td time").first).to_contain_text(utc[11:19])
    page.context.close()


def test_ending_other_log_ins_shuts_their_pages(browser: Browser, site: Site) -> None:
    first, second = visit(browser, site), visit(browser, site)
    first.go("/account/")
    first.page.get_by_role("button", name="Log out everywhere else").click()
    expect(first.page.locator(".toast")).to_contain_text("1 other log-in ended")
    second.go("/tasks/")
    second.page.wait_for_url("**/login/?next=/tasks/")
    wait_for(lambda: AuditEntry.objects.filter(action="log out elsewhere").exists(), "the audit")
    for visitor in (first, second):
        visitor.page.context.close()
