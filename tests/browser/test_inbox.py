"""Steps that people do, done in a browser: taken, filled in, approved, rejected, handed back."""

from uuid import UUID

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Page, expect

from tasks_app.core.states import Status
from tests.browser.conftest import NAME, PASSWORD, Site, Visitor, log_in
from tests.people import SCHEMA, PeopleFloor

EVERYTHING = {
    "type": "object",
    "properties": {
        **SCHEMA["properties"],  # type: ignore[dict-item]  # it is a dict
        "note": {"type": "string", "format": "text", "description": "For the customer."},
        "certain": {"type": "boolean"},
        "topic": {"enum": ["charge", "bike"], "title": "What it is about"},
        "letter": {"enum": list("abcdefgh")},
        "seen": {"type": "array", "items": {"enum": ["photo", "text"]}},
        "more": {"type": "object"},
    },
    "required": ["approved", "reason"],
}


@pytest.fixture
def floor(site: Site) -> PeopleFloor:
    """A floor on which people do reviews, its supervisor on duty."""
    floor = PeopleFloor()
    floor.lead()
    floor.people_do()
    return floor


def take(visitor: Visitor, task: UUID) -> Page:
    """Take a step from the list."""
    page = visitor.page
    visitor.go("/inbox/")
    page.locator(f'tr[data-id="{task}"]').get_by_role("button", name="Take it").click()
    expect(page.locator(".toast")).to_contain_text("It is yours.")
    return page


def test_a_step_is_taken_its_mistakes_are_shown_and_it_is_approved(
    visitor: Visitor, floor: PeopleFloor
) -> None:
    (task,) = floor.submit(kind="review")
    visitor.go("/")
    expect(visitor.page.locator('[data-count="INBOX"]')).to_have_text("1")
    page = take(visitor, task)
    page.get_by_label("Reason").fill("ok")
    page.get_by_label("Reason").press("Enter")
    page.get_by_label("Severity").fill("nine")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("alert")).to_contain_text("2 things to mend")
    expect(page.get_by_text("Write at least 3 characters.")).to_be_visible()
    expect(page.get_by_text("Write a whole number, such as 3; 'nine' is none.")).to_be_visible()
    expect(page.get_by_label("Severity")).to_have_value("nine")
    assert floor.status(task) is Status.RUNNING
    page.get_by_label("Reason").fill("all in order")
    page.get_by_label("Severity").fill("4")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".toast")).to_contain_text("is completed")
    expect(page.get_by_text("Nothing waits for a person")).to_be_visible()
    assert floor.task(task).result == {"approved": True, "reason": "all in order", "severity": 4}


def test_a_step_is_rejected_by_the_keyboard_alone(visitor: Visitor, floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    page = visitor.page
    visitor.go("/inbox/")
    for key in ("j", "Tab", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".toast")).to_contain_text("It is yours.")
    page.get_by_label("Reason").focus()
    page.keyboard.type("not in order")
    for key in ("Tab", "Tab", "Tab", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".toast")).to_contain_text("is completed")
    assert floor.task(task).result == {"approved": False, "reason": "not in order"}


def test_an_extension_leaves_the_form_alone_and_a_release_gives_the_step_back(
    visitor: Visitor, floor: PeopleFloor
) -> None:
    (task,) = floor.submit(kind="review")
    page = take(visitor, task)
    page.get_by_label("Reason").fill("half a thought")
    floor.time_runs_out(task)
    page.evaluate("document.body.dispatchEvent(new CustomEvent('chargehand:changed'))")
    expect(page.locator("#step-live")).to_contain_text("Your time has run out")
    page.get_by_role("button", name="Extend").click()
    expect(page.locator("#step-live")).to_contain_text("It is yours.")
    expect(page.locator("#step-live [data-time=left]")).to_have_text("30 min")
    expect(page.get_by_label("Reason")).to_have_value("half a thought")
    page.get_by_role("button", name="Hand back").click()
    expect(page.locator(".toast")).to_contain_text("It waits for anybody again.")
    assert floor.status(task) is Status.PENDING
    assert floor.attempts(task) == [("released", NAME)]


def test_a_form_whose_time_ran_out_keeps_its_words(visitor: Visitor, floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    page = take(visitor, task)
    page.get_by_label("Reason").fill("a long consideration")
    floor.time_runs_out(task)
    floor.round()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".toast")).to_contain_text("It is no longer yours")
    page.get_by_role("button", name="Take it").click()
    expect(page.get_by_label("Reason")).to_have_value("a long consideration")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".toast")).to_contain_text("is completed")
    assert floor.status(task) is Status.COMPLETED


def test_a_step_is_done_without_javascript(plain_visitor: Visitor, floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    page = take(plain_visitor, task)
    page.get_by_label("Reason").fill("all in order")
    page.get_by_role("button", name="Extend").click()
    expect(page.get_by_label("Reason")).to_have_value("all in order")
    page.get_by_role("button", name="Reject").click()
    expect(page.locator(".toast")).to_contain_text("is completed")
    assert floor.task(task).result == {"approved": False, "reason": "all in order"}


def test_a_viewer_sees_the_step_and_no_way_to_take_it(
    site: Site, visitor: Visitor, floor: PeopleFloor
) -> None:
    (task,) = floor.submit(kind="review")
    User.objects.create_user("vera", password=PASSWORD).groups.add(
        Group.objects.get_or_create(name="viewer")[0]
    )
    page = visitor.page
    log_in(page.context, visitor.address, "vera")
    visitor.go("/inbox/")
    expect(page.locator(f'tr[data-id="{task}"]')).to_be_visible()
    expect(page.get_by_role("button", name="Take it")).to_have_count(0)
    visitor.go(f"/inbox/{task}/")
    expect(page.get_by_text("ask an admin for the role operator")).to_be_visible()


def test_a_form_and_its_faults_are_readable_by_everybody(
    visitor: Visitor, floor: PeopleFloor
) -> None:
    page = visitor.page
    page.set_viewport_size({"width": 390, "height": 900})
    floor.people_do(result_schema=EVERYTHING, description="A look at what the machine flagged.")
    waiting, mine, other = floor.submit(3, kind="review")
    floor.take(other)
    take(visitor, mine)
    for path in ("/inbox/", f"/inbox/{waiting}/", f"/inbox/{other}/", f"/inbox/{mine}/"):
        visitor.go(path)
        assert visitor.axe() == [], path
        assert visitor.overflow() <= 0, path
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("alert")).to_contain_text("Not recorded yet")
    assert visitor.axe() == []
