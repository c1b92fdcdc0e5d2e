"""A log-in that expires while somebody types: after the log-in they are back at the form."""

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from tasks_app.core.states import Status
from tests.browser.conftest import NAME, PASSWORD, Site, Visitor
from tests.browser.test_inbox import take
from tests.people import PeopleFloor

SAID = "What you typed was kept and has not been sent."


@pytest.fixture
def floor(site: Site) -> PeopleFloor:
    """A floor on which people do reviews, its supervisor on duty."""
    floor = PeopleFloor()
    floor.lead()
    floor.people_do()
    return floor


def log_in_again(page: Page) -> None:
    """Fill in the log-in that came instead of the form's answer."""
    expect(page.get_by_text("Your log-in has expired. Log in again")).to_be_visible()
    page.get_by_label("User name").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def test_an_answer_in_the_inbox_is_back_in_its_form_after_the_log_in(
    visitor: Visitor, floor: PeopleFloor
) -> None:
    (task,) = floor.submit(kind="review")
    page = take(visitor, task)
    visitor.go(f"/inbox/{task}/")
    page.get_by_label("Reason").fill('all "in" order, Müller')
    page.get_by_label("Severity").fill("4")
    Session.objects.all().delete()
    page.get_by_role("button", name="Approve").click()
    log_in_again(page)
    expect(page.get_by_text(SAID)).to_be_visible()
    page.wait_for_url(f"**/inbox/{task}/")
    expect(page.get_by_label("Reason")).to_have_value('all "in" order, Müller')
    expect(page.get_by_label("Severity")).to_have_value("4")
    assert floor.status(task) is Status.RUNNING, "nothing was sent by itself"
    assert page.evaluate("sessionStorage.getItem('chargehand-kept')") is None
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".toast")).to_contain_text("is completed")
    visitor.faults.clear()  # the browser notes the 401


def test_without_scripts_what_was_typed_is_sent_from_the_page_after_the_log_in(
    plain_visitor: Visitor, floor: PeopleFloor
) -> None:
    (task,) = floor.submit(kind="review")
    page = plain_visitor.page
    plain_visitor.go("/inbox/")
    page.locator(f'tr[data-id="{task}"]').get_by_role("button", name="Take it").click()
    plain_visitor.go(f"/inbox/{task}/")
    page.get_by_label("Reason").fill("all in order")
    Session.objects.all().delete()
    page.get_by_role("button", name="Approve").click()
    log_in_again(page)
    expect(page.get_by_label("reason")).to_have_value("all in order")
    page.get_by_role("button", name="Send again").click()
    expect(page.locator(".toast")).to_contain_text("is completed")
    plain_visitor.faults.clear()


def test_a_page_whose_log_in_ended_keeps_the_text_that_is_being_typed(
    visitor: Visitor, floor: PeopleFloor
) -> None:
    (task,) = floor.submit(kind="review")
    page = take(visitor, task)
    visitor.go(f"/inbox/{task}/")
    page.get_by_label("Reason").fill("half a sen")
    page.evaluate("document.dispatchEvent(new CustomEvent('chargehand:signed-out'))")
    expect(page.get_by_text("Your log-in has expired. Send the form")).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value("half a sen")
