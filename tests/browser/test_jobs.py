"""A job as an operator sees it: its graph lives, zooms and survives swaps; acts; small screens."""

import re
from datetime import timedelta
from itertools import pairwise
from uuid import UUID

import pytest
from django.db.models import F
from playwright.sync_api import expect

from tasks_app.models import Attempt
from tests.browser.conftest import Site, Visitor
from tests.jobs import JobFloor
from tests.waiting import wait_for

CHANGED = "document.body.dispatchEvent(new CustomEvent('chargehand:changed'))"


@pytest.fixture
def floor(site: Site) -> JobFloor:
    """The site's floor with jobs, moved by hand, no process but the web's."""
    floor = JobFloor()
    floor.lead()
    floor.hire("w1", slots=20)
    return floor


@pytest.fixture
def job(floor: JobFloor) -> UUID:
    """A job of every shape: items, a condition, each kind of edge; its first step is done."""
    job = floor.job(
        [
            {"name": "look", "kind": "a", "compensation": "undo_a"},
            {"name": "each", "kind": "b", "for_each": {"$result": "look"}},
            {"name": "maybe", "kind": "a", "when": {"$result": "look.0", "greater": 5}},
            {"name": "pay", "kind": "b", "depends_on": [{"on": "each", "on_dead": "fail"}]},
            {"name": "end", "kind": "a", "depends_on": [{"on": "pay", "on_dead": "continue"}]},
        ],
        name="evening",
    )
    floor.complete("w1", floor.next(), [1, 2, 3])
    floor.until_still()
    return job


def test_a_job_lives_without_a_reload_and_keeps_its_zoom(
    floor: JobFloor, visitor: Visitor, job: UUID
) -> None:
    page = visitor.page
    visitor.go("/jobs/")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="evening")).to_be_visible()
    graph = page.locator("[data-graph]")
    each = graph.locator("a.step", has_text="each")
    expect(each).to_contain_text("0 of 3")
    graph.focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    expect(graph).to_have_attribute("data-zoomed", "")
    shown = graph.locator("> svg").get_attribute("viewBox")
    for grant in floor.all_next():
        floor.complete("w1", grant, 1)
    floor.until_still()
    page.evaluate(CHANGED)
    expect(each).to_contain_text("3 of 3")
    assert graph.locator("> svg").get_attribute("viewBox") == shown
    expect(graph).to_be_focused()
    page.keyboard.press("0")
    expect(graph).not_to_have_attribute("data-zoomed", "")


def test_the_wheel_zooms_to_the_pointer_and_a_drag_opens_nothing(
    floor: JobFloor, visitor: Visitor, job: UUID
) -> None:
    page = visitor.page
    visitor.go(f"/jobs/{job}/")
    graph = page.locator("[data-graph]")
    look = graph.get_by_role("link", name="look: completed")
    look.hover()
    page.mouse.wheel(0, -200)
    expect(graph).to_have_attribute("data-zoomed", "")
    # It has no box while the live page swaps the graph.
    box = wait_for(look.bounding_box, "the step's place")
    page.mouse.move(box["x"] + 30, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] - 40, box["y"] + 12, steps=4)
    page.mouse.up()
    assert page.url.endswith(f"/jobs/{job}/")


def test_a_job_is_paused_and_cancelled_in_its_dialog(
    floor: JobFloor, visitor: Visitor, job: UUID
) -> None:
    page = visitor.page
    visitor.go(f"/jobs/{job}/")
    page.get_by_role("link", name="Pause…").click()
    page.locator("#act").get_by_role("button", name="Pause the job").click()
    expect(page.locator(".toast")).to_contain_text("Nothing more of it is handed out")
    expect(page.locator(".alert")).to_contain_text("It is paused.")
    page.get_by_role("link", name="Cancel…").click()
    page.locator("#act").get_by_label("Reason").fill("the wrong evening")
    page.locator("#act").get_by_role("button", name="Cancel the job").click()
    expect(page.locator(".alert")).to_contain_text("It is being cancelled.")


SHOWN_TIMES = """() => [...document.querySelectorAll(".gantt-axis text")]
    .filter(time => time.checkVisibility({ visibilityProperty: true }))
    .map(time => time.getBoundingClientRect())
    .map(({ left, right }) => ({ left, right }))
"""


def test_on_a_phone_a_job_is_a_list_of_its_steps(
    floor: JobFloor, visitor: Visitor, job: UUID
) -> None:
    page = visitor.page
    page.set_viewport_size({"width": 390, "height": 900})
    for grant in floor.all_next():
        floor.fail("w1", grant, permanent=True)
    # So long that its times are read as "500 ms", the widest that there are.
    Attempt.objects.update(started_at=F("ended_at") - timedelta(seconds=3.7))
    visitor.go(f"/jobs/{job}/")
    expect(page.locator("[data-graph]")).to_be_hidden()
    expect(page.locator("#steps-title")).to_be_visible()
    # All in one look, for the live page may swap them between two.
    times = page.evaluate(SHOWN_TIMES)
    assert len(times) > 2
    for left, right in pairwise(times):
        assert left["right"] < right["left"]


INSTANT = "document.querySelector('main time')"
PRINTED = f"getComputedStyle({INSTANT}, '::after').content"


def test_a_job_prints_as_a_report(visitor: Visitor, job: UUID) -> None:
    page = visitor.page
    visitor.go(f"/jobs/{job}/")
    page.emulate_media(media="print")
    expect(page.locator(".rail")).to_be_hidden()
    expect(page.locator(".acts").first).to_be_hidden()
    expect(page.locator("[data-graph]")).to_be_visible()
    expect(page.locator("#steps-title")).to_be_visible()
    # A time of day alone says no day. Asked in one: the live page may swap it between two looks.
    page.wait_for_function(f'{PRINTED} === `"${{{INSTANT}.title}}"`')
    printed = page.evaluate(PRINTED)
    assert re.fullmatch(r'"\d{4}-\d\d-\d\d [\d:]{8} UTC"', printed)
