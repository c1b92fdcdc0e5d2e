"""The tree that a JSON is shown as."""

from html import unescape
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tasks_app.templatetags.json_viewer import json_tree

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


class Tags(HTMLParser):
    """Which elements and attributes a text really has."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen |= {tag, *(name for name, _ in attrs)}


@given(VALUES)
def test_whatever_stands_in_it_becomes_text_and_never_an_element(value: Any) -> None:
    tags = Tags()
    tags.feed(json_tree({"value": value, "<img onerror=x>": "</span><script>alert(1)</script>"}))
    harmless = {"details", "summary", "ul", "li", "span", "i", "bdi", "pre", "p", "class", "open"}
    assert tags.seen <= harmless


def test_marks_that_turn_the_direction_are_written_out() -> None:
    html = json_tree({"file\u202e": "a\u202egnp.exe\x07"})
    assert "\u202e" not in html
    assert "\\u202e" in unescape(html)


def test_a_long_text_is_folded() -> None:
    html = json_tree("x" * 5000)
    assert "5000 characters" in html
    assert html.startswith("<details")


def test_what_is_deep_or_long_begins_folded() -> None:
    assert " open" in json_tree({"a": 1})
    assert " open" not in json_tree(list(range(100)))
    assert json_tree({"a": {"b": {"c": {"d": 1}}}}).count(" open") == 2
