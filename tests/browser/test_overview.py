"""The overview as an operator sees it: live, honest about gaps, readable by everybody."""

import json
import re
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NAME, Site, Visitor
from tests.floor import Floor

SEEDS = [10, 2, 2, 10, 2, 2, 10, 2, 2]
LEGEND_OF_COMPLETED = '[data-legend="status"] [data-value="Completed"]'


def points_drawn(visitor: Visitor) -> int:
    """Pixels that are not empty in the middle of the chart of statuses."""
    drawn = visitor.page.evaluate(
        """() => {
            const canvas = document.querySelector('[data-plot="status"] canvas');
            const { width, height } = canvas;
            const data = canvas.getContext("2d").getImageData(width - 60, 0, 50, height).data;
            let coloured = 0;
            for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] > 0 && Math.abs(data[i] - data[i + 1]) > 40) coloured++;
            return coloured;
        }"""
    )
    return int(drawn)


def submit_seeds(floor: Floor, scale: float) -> None:
    estimates = [seconds * scale for seconds in SEEDS]
    floor.kind("seed", strategy="round_robin")
    floor.settings(backlog=None, heartbeat_seconds=0.5, stale_after_seconds=30.0)
    ids = floor.submit(kind="seed", estimates=estimates)
    from tasks_app.models import Task

    for task, seconds in zip(ids, estimates, strict=True):
        Task.objects.filter(id=task).update(payload={"seconds": seconds})


def test_one_sees_one_pinned_worker_and_two_flat_ones(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    site.floor.settings(backlog=None)
    for name in ("w1", "w2", "w3"):
        site.work(name, "--slots", "1")
    submit_seeds(site.floor, scale=2)
    site.supervise()
    visitor.go("/")
    # The short tasks of w2 and w3 end after 12 s; the long ones of w1 take a minute.
    alert = page.locator(".alert", has_text="w1 is pinned")
    expect(alert).to_contain_text("w2 and w3 are idle", timeout=40_000)
    expect(alert).to_contain_text("round robin")
    expect(page.get_by_role("link", name="Switch to capable least loaded…")).to_be_visible()
    expect(page.get_by_role("button", name="Drain w1")).to_be_visible()
    expect(page.locator('[data-legend="active"] [data-value="w2"]')).to_have_text("0")
    expect(page.locator('[data-legend="active"] [data-value="w1"]')).not_to_have_text("0")
    expect(page.locator("progress.hot")).to_have_count(1)
    assert visitor.axe() == []
    page.get_by_role("link", name="Switch to capable least loaded…").click()
    dialog = page.locator("#act")
    expect(dialog).to_contain_text("Switch to capable least loaded?")
    dialog.get_by_role("button", name="Switch the strategy").click()
    expect(page.locator(".toast")).to_contain_text("handed out by capable least loaded")
    from tasks_app.models import Kind

    assert Kind.objects.get(name="seed").strategy == "capable_least_loaded"
    (site.folder / "enough").touch()


def test_the_chart_moves_without_a_reload(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    site.supervise()
    expect(page.locator("[data-connection]")).to_have_text("Live")
    expect(page.locator(LEGEND_OF_COMPLETED)).to_have_text("0")
    empty = points_drawn(visitor)
    site.floor.submit(40, kind="mend")
    site.work("w1")
    expect(page.locator(LEGEND_OF_COMPLETED)).to_have_text("40")
    page.wait_for_timeout(2500)
    # The line of a status at zero may colour some pixels; an area of forty colours hundreds.
    assert points_drawn(visitor) > empty + 100
    expect(page.locator(".tile", has_text="Done").locator(".figure")).to_have_text(
        re.compile(r"40\s+of 40")
    )


def test_a_dead_supervisor_cannot_hide_itself(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    supervisor = site.supervise()
    site.floor.submit(1, kind="mend")
    age = page.locator('[data-legend="oldest"] [data-value]')
    expect(age).to_have_text(re.compile(r"^[3-8] s$"))
    supervisor.kill()
    supervisor.wait(10)
    expect(age).to_have_text(re.compile(r"^(9|1\d) s$"))
    expect(age).to_have_text(re.compile(r"^(1[2-9]|2\d) s$"))
    expect(page.locator(".alert.bad", has_text="No supervisor is on duty")).to_be_visible()
    expect(page.locator(".tile", has_text="Supervisor")).to_contain_text("off duty")


def test_the_page_catches_up_after_the_web_process_was_away(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    site.supervise()
    expect(page.locator("[data-connection]")).to_have_text("Live")
    site.web.kill()
    expect(page.locator("[data-connection]")).to_have_text("Reconnecting…")
    site.floor.submit(5, kind="mend")
    site.work("w1")
    site.web.start()
    expect(page.locator("[data-connection]")).to_have_text("Live", timeout=40_000)
    expect(page.locator(LEGEND_OF_COMPLETED)).to_have_text("5")


def test_without_a_websocket_the_page_polls(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    page.route_web_socket("**/ws/live/", lambda refused: refused.close())
    site.supervise()
    visitor.go("/")
    site.floor.submit(5, kind="mend")
    site.work("w1")
    expect(page.locator("[data-connection]")).to_have_text("Reconnecting…")
    expect(page.locator(LEGEND_OF_COMPLETED)).to_have_text("5")
    expect(page.locator(".tile", has_text="Done").locator(".figure")).to_have_text(
        re.compile(r"5\s+of 5")
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_reads_well_from_a_phone_to_a_wall(site: Site, visitor: Visitor, scheme: str) -> None:
    page = visitor.page
    site.floor.kind("lonely")
    site.floor.submit(2, kind="lonely")
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for width in (390, 768, 1440, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        visitor.go("/")
        expect(page.locator(".alert", has_text="No worker can do lonely")).to_be_visible()
        assert visitor.overflow() <= 0
        assert visitor.axe() == []


def test_the_cross_hair_tells_the_values_of_all_charts(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    site.supervise()
    site.floor.submit(3, kind="mend")
    expect(page.locator('[data-legend="status"] [data-value="Pending"]')).to_have_text("3")
    page.wait_for_timeout(1500)
    page.locator('[data-plot="active"]').focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-charts-at]")).to_contain_text("at ")
    crossed = page.locator(".u-cursor-x:not(.u-off)")
    expect(crossed).to_have_count(4)
    expect(page.locator('[data-legend="rate"] [data-value]')).to_have_text("0.0 /s")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/tasks/"))
    expect(page.locator("[data-rows] tr[data-id]")).to_have_count(3)


def test_throughput_is_drawn_over_ten_seconds_and_not_across_a_gap(visitor: Visitor) -> None:
    visitor.go("/")
    seconds = [(0, 0), (1, 4), (2, 4), (20, 40), (21, 41), (100, 90), (101, 92)]
    points: list[dict[str, Any]] = [
        {"at": at, "done": done, "by_status": {}, "active": {}, "oldest": None, "gap": at == 100}
        for at, done in seconds
    ]
    rates = visitor.page.evaluate(
        "points => window.Chargehand.plots.columns(points, new Set(), []).rate[1]", points
    )
    assert rates == [None, 4, 2, 2, 1, None, None, 2]


def test_a_range_is_chosen_and_the_page_says_when_it_is_empty(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    expect(page.locator("[data-charts-note]")).to_have_text(re.compile("No samples"))
    page.get_by_role("button", name="24 h").click()
    expect(page.get_by_role("button", name="24 h")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-charts-note]")).to_have_text(re.compile("No samples"))


def test_keys_open_the_search_and_the_help(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    page.keyboard.press("/")
    expect(page.get_by_role("combobox", name="Search tasks")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert visitor.axe() == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_the_theme_is_chosen_and_kept(site: Site, visitor: Visitor) -> None:
    page = visitor.page
    page.get_by_text(NAME, exact=True).click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_text(NAME, exact=True).click()
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile("/login/"))


def test_without_javascript_the_figures_are_there(site: Site, plain_visitor: Visitor) -> None:
    page = plain_visitor.page
    site.floor.submit(7, kind="mend")
    plain_visitor.go("/")
    expect(page.locator(".tile", has_text="Done").locator(".figure")).to_have_text(
        re.compile(r"0\s+of 7")
    )
    expect(page.locator("noscript, .card", has_text="Tasks by status, now").last).to_contain_text(
        "Pending"
    )


def test_no_page_is_shown_to_strangers(site: Site) -> None:
    for path in ("/", "/series/?range=5m"):
        with urllib.request.urlopen(site.address + path) as answer:
            assert answer.url.startswith(f"{site.address}/login/")
    with urllib.request.urlopen(site.address + "/healthz") as answer:
        assert json.load(answer) == {"status": "alive"}
