"""Scripts say what the catalogue has for the reader's language, under the page's own policy."""

from playwright.sync_api import Route, expect

from tests.browser.conftest import Visitor

MARKED = "window.gettext = (text) => `⟦${text}⟧`;"


def translate(route: Route) -> None:
    """The catalogue as it is, and a translation of every text."""
    answer = route.fetch()
    assert "gettext" in answer.text()
    route.fulfill(response=answer, body=f"{answer.text()}\n{MARKED}")


def test_scripts_speak_the_readers_language(visitor: Visitor) -> None:
    page = visitor.page
    page.route("**/words.js*", translate)
    visitor.go("/")
    expect(page.locator("[data-connection]")).to_have_text("⟦Live⟧")
    expect(page.locator("[data-legend=status]")).to_contain_text("⟦Completed⟧")
    page.keyboard.press("p")
    expect(page.locator("[data-connection]")).to_have_text("⟦Paused⟧")
    expect(page.locator("[data-pause]")).to_have_text("⟦Go on⟧")
