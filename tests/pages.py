"""The text of a page that also holds random ids, tokens, times and ports.

A short text of figures, such as ``4111``, occurs in a random id now and then: a test that looks for
it, or for its absence, fails by chance. So a page refuses to be asked for one.
"""

import re
from html.parser import HTMLParser
from typing import Any, Final

IDENTIFIER: Final = re.compile(r"[0-9a-f.,:+\-\s]*")
"""What ids, times, ports and addresses are made of."""

LONG_ENOUGH: Final = 13
"""Hexadecimal figures that no id repeats by chance: 16^13 is more than all ids of a run."""

TOKEN: Final = re.compile(r"[A-Za-z0-9_\-]{0,3}")
"""Three characters occur in one token of 64 out of some 4,000."""


def chance_could_say(text: str) -> bool:
    """Whether random ids or tokens on a page may hold this text.

    >>> [chance_could_say(each) for each in ("4111", "10.0.0.7", "Ada", ">4111<", "card 4111")]
    [True, True, True, False, False]
    """
    if not text.strip():
        return False
    if TOKEN.fullmatch(text):
        return True
    figures = sum(each.isalnum() for each in text)
    return IDENTIFIER.fullmatch(text) is not None and figures < LONG_ENOUGH


class PageText(str):
    """The text of a page, which cannot be asked for what a random id may hold."""

    __slots__ = ()

    def __contains__(self, text: object) -> bool:
        """Whether the page holds a text that stands there on purpose alone."""
        if isinstance(text, str) and chance_could_say(text):
            raise AssertionError(
                f"{text!r} may stand in a random id of this page: look for a longer text,"
                f" or for one with its mark-up, such as {f'>{text}<'!r}"
            )
        return super().__contains__(text)  # type: ignore[operator]


def page(answer: Any) -> PageText:
    """The text of what Django's test client got."""
    return PageText(answer.content.decode())


class Inputs(HTMLParser):
    """What a browser would send of the form of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.action = ""
        self.data: dict[str, list[str]] = {}
        self._select: str | None = None
        self._area: str | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        if tag == "form":
            self.action = given.get("action", "")
        if tag == "input" and name:
            if given.get("type") in ("submit", "button"):
                return
            if given.get("type") in ("checkbox", "radio") and "checked" not in given:
                return
            ticks = given.get("type") in ("checkbox", "radio")
            self.data.setdefault(name, []).append(given.get("value", "on" if ticks else ""))
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and "selected" in given:
            self.data.setdefault(self._select, []).append(given["value"])
        elif tag == "textarea":
            self._area, self._text = name, ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = None
        elif tag == "textarea" and self._area:
            self.data[self._area] = [self._text.removeprefix("\n").replace("\n", "\r\n")]
            self._area = None

    def handle_data(self, data: str) -> None:
        if self._area:
            self._text += data
