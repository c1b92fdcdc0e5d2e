"""The live line: paused and kept so, at rest on a hidden tab, right again once it is back; keys."""

import re
import time

from playwright.sync_api import Locator, Route, expect

from tests.browser.conftest import Site, Visitor

BACK_MS = 4000
"""Two seconds on a machine that has the time; this one runs other tests beside it."""

HIDE = """hidden => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
LOW = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(".scroll { max-height: 40px; overflow: auto; }");
    document.adoptedStyleSheets = [sheet];
}"""
"""Parts are so low that they scroll; as a style of the page its policy would refuse it."""

ENDED_BOOTS = "document.querySelector('#ended-boots .scroll')"
"""Asked in the page itself: a swap could replace what a locator has found before it is asked."""

CHANGED = "document.body.dispatchEvent(new CustomEvent('chargehand:changed'))"


def connection(visitor: Visitor) -> Locator:
    return visitor.page.locator("[data-connection]")


def test_a_pause_holds_the_page_still_and_is_kept_until_it_ends(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.page
    visitor.go("/tasks/")
    expect(connection(visitor)).to_have_text("Live")
    page.get_by_role("button", name="Pause").click()
    expect(connection(visitor)).to_have_text("Paused")
    site.floor.submit(1, key="meanwhile")
    visitor.go("/workers/")
    expect(connection(visitor)).to_have_text("Paused")
    site.floor.worker("w1")
    # Longer than the poll of a page without a line.
    page.wait_for_timeout(5500)
    expect(page.get_by_role("link", name="w1")).to_have_count(0)
    page.keyboard.press("p")
    expect(connection(visitor)).to_have_text("Live")
    expect(page.get_by_role("link", name="w1")).to_be_visible()
    visitor.go("/tasks/")
    expect(connection(visitor)).to_have_text("Live")


def pace(visitor: Visitor) -> Locator:
    return visitor.page.get_by_label("How often this page is refreshed")


def test_a_slower_pace_is_obeyed_and_kept(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    visitor.go("/tasks/")
    expect(pace(visitor)).to_have_value("1")
    pace(visitor).focus()
    # As the keyboard does it: the choice is a field like any other.
    page.keyboard.type("60")
    expect(pace(visitor)).to_have_value("60")
    visitor.go("/workers/")
    expect(connection(visitor)).to_have_text("Live")
    expect(pace(visitor)).to_have_value("60")
    # What the line's opening fetches has come.
    page.wait_for_load_state("networkidle")
    site.floor.worker("w1")
    # Longer than the feed is ever silent about tables, and than the poll without a line.
    page.wait_for_timeout(6500)
    expect(page.get_by_role("link", name="w1")).to_have_count(0)
    pace(visitor).select_option("1")
    expect(page.get_by_role("link", name="w1")).to_be_visible()
    site.floor.worker("w2")
    expect(page.get_by_role("link", name="w2")).to_be_visible()


def test_off_is_a_pause_from_which_the_pace_comes_back(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    visitor.go("/workers/")
    pace(visitor).select_option("5")
    pace(visitor).select_option("off")
    expect(connection(visitor)).to_have_text("Paused")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    pace(visitor).blur()
    page.keyboard.press("p")
    expect(connection(visitor)).to_have_text("Live")
    expect(pace(visitor)).to_have_value("5")
    page.keyboard.press("p")
    expect(pace(visitor)).to_have_value("off")


def test_polls_without_a_line_follow_the_pace_too(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    visitor.go("/workers/")
    pace(visitor).select_option("15")
    page.add_init_script("window.WebSocket = class { close() {} };")
    asked: list[str] = []
    visitor.go("/workers/")
    # Not before: the choice of a pace fetches everything once, on the page that was left.
    page.on("request", lambda request: asked.append(request.headers.get("hx-request", "")))
    page.wait_for_timeout(7000)
    assert "true" not in asked, "it asked although its pace is 15 s"
    pace(visitor).select_option("1")
    asked.clear()
    page.wait_for_timeout(7000)
    assert "true" in asked


def test_the_pace_has_its_place_on_a_phone(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    page.set_viewport_size({"width": 390, "height": 800})
    visitor.go("/workers/")
    expect(pace(visitor)).to_be_visible()
    box = pace(visitor).bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    name = page.locator(".top .end .menu > summary")
    name.evaluate("node => node.textContent = 'w_operator'")
    beside = name.bounding_box()
    assert beside is not None
    assert abs(beside["y"] - box["y"]) < 10, "a name of ten letters needs no row of its own"


def test_a_hidden_tab_rests_and_is_right_again_when_it_is_seen(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.page
    visitor.go("/tasks/")
    expect(connection(visitor)).to_have_text("Live")
    page.evaluate(HIDE, True)
    expect(connection(visitor)).to_have_text("Paused")
    site.floor.submit(1, key="meanwhile")
    page.evaluate(HIDE, False)
    expect(page.get_by_role("link", name="meanwhile")).to_be_visible(timeout=BACK_MS)
    expect(connection(visitor)).to_have_text("Live")


def test_after_a_lost_connection_the_page_is_right_again_within_seconds(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.page
    visitor.go("/tasks/")
    expect(connection(visitor)).to_have_text("Live")
    site.web.kill()
    expect(connection(visitor)).to_have_text("Reconnecting…")
    # Long enough for a backoff without a cap to have grown far beyond the bound.
    page.wait_for_timeout(6000)
    site.floor.submit(1, key="meanwhile")
    site.web.start()
    expect(page.get_by_role("link", name="meanwhile")).to_be_visible(timeout=BACK_MS)
    expect(connection(visitor)).to_have_text("Live")


def test_a_server_that_takes_longer_than_a_second_is_waited_for(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.page
    visitor.go("/workers/")
    expect(connection(visitor)).to_have_text("Live")
    site.floor.worker("w1")

    def slowly(route: Route) -> None:
        time.sleep(1.5)
        route.continue_()

    page.route("**/workers/", slowly)
    page.evaluate(f"setInterval(() => {CHANGED}, 500)")
    expect(page.get_by_role("link", name="w1")).to_be_visible()
    page.unroute_all(behavior="ignoreErrors")


def test_g_and_a_letter_lead_to_every_page(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    links = page.locator(".rail [data-go]")
    keys = [str(link.get_attribute("data-go")) for link in links.all()]
    paths = [str(link.get_attribute("href")) for link in links.all()]
    assert len(set(keys)) == len(keys)
    page.keyboard.press("?")
    for key in keys:
        expect(page.locator("[data-go-keys] kbd", has_text=re.compile(f"^{key}$"))).to_be_visible()
    page.keyboard.press("Escape")
    for key, path in zip(keys, paths, strict=True):
        if path.startswith("/admin/"):
            continue
        # Not that it is there: the first of them is where the visitor is already.
        with page.expect_navigation(url=f"{visitor.address}{path}"):
            page.keyboard.press("g")
            page.keyboard.press(key)
    with page.expect_navigation(url=f"{visitor.address}/tasks/"):
        page.keyboard.press("g")
        page.keyboard.press("t")


def test_a_swap_keeps_focus_folds_and_scroll(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    site.floor.worker("w1")
    site.floor.worker("w1")
    visitor.go("/workers/")
    page.evaluate(LOW)
    page.get_by_text("Ended: the last 1").click()
    region = page.get_by_role("region", name="Ended boots")
    region.focus()
    page.evaluate(f"{ENDED_BOOTS}.scrollTo(0, 7)")
    site.floor.worker("w2")
    page.evaluate(CHANGED)
    expect(page.get_by_role("link", name="w2")).to_be_visible()
    expect(region).to_be_visible()
    expect(region).to_be_focused()
    assert page.evaluate(f"{ENDED_BOOTS}.scrollTop") == 7
