"""A language that puts each translated text between ⟦ and ⟧, and what of a page is outside them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any, Final
from unittest.mock import patch

from django.utils import translation
from django.utils.translation import trans_real

CONTEXT: Final = "\x04"


class Pseudo:
    """A catalogue that has a translation for every text."""

    def gettext(self, text: str) -> str:
        """Put it between the marks; what stands before a context's end is for translators."""
        said = text.rpartition(CONTEXT)[2]
        return f"⟦{said}⟧" if re.search(r"[^\W\d_]", re.sub(r"%\(\w+\)s", "", said)) else said

    def ngettext(self, one: str, many: str, count: int) -> str:
        """The form that fits the count, between the marks."""
        return self.gettext(one if count == 1 else many)

    def language(self) -> str:
        """Formats of dates and figures are those of the site's own language."""
        return "en-gb"

    to_language = language


@contextmanager
def pseudo_language() -> Iterator[None]:
    """Whatever language is asked for, it is this one."""
    pseudo = Pseudo()
    with (
        patch.object(trans_real, "translation", lambda language: pseudo),
        patch.object(trans_real, "_default", pseudo),
    ):
        translation.deactivate()
        try:
            yield
        finally:
            translation.deactivate()


SPOKEN: Final = ("alt", "aria-description", "aria-label", "data-label", "placeholder", "title")
"""Attributes that somebody reads or hears."""

VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr", "source", "col"})

SILENT: Final = frozenset({"script", "style"})


class Page(HTMLParser):
    """Collects what a reader sees or hears that no translator was asked for.

    ``data`` matches what is nobody's to translate; ``elements`` and ``classes`` hold nothing else.
    """

    def __init__(self, data: "re.Pattern[str]", elements: set[str], classes: set[str]) -> None:
        super().__init__()
        self.found: list[str] = []
        self._data, self._elements, self._classes = data, elements, classes
        self._open: list[tuple[str, bool]] = []
        self._depth = 0

    @property
    def _exempt(self) -> bool:
        return any(exempt for _, exempt in self._open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read its attributes, and remember whether what is in it is data."""
        values = {name: value or "" for name, value in attrs}
        classes = set(values.get("class", "").split())
        exempt = tag in self._elements | SILENT or bool(classes & self._classes)
        # What was written down once is in English for good, and says so.
        exempt = exempt or values.get("lang") == "en"
        if tag == "input" and values.get("type") in ("submit", "button"):
            self._judge(values.get("value", ""), f"<{tag} value>")
        if not (exempt or self._exempt):
            for name in SPOKEN:
                self._judge(values.get(name, ""), f"<{tag} {name}>")
        if tag not in VOID:
            self._open.append((tag, exempt))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element of a drawing that closes itself."""
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost of its name, and whatever was left open in it."""
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place][0] == tag:
                del self._open[place:]
                return

    def handle_data(self, data: str) -> None:
        """A text: outside of the marks it may only be data."""
        where = " > ".join(tag for tag, _ in self._open[-3:])
        outside, self._depth = outside_of_marks(data, self._depth)
        if not self._exempt and self._says(outside):
            self.found.append(f"{where}: {data.strip()}")

    def _judge(self, text: str, where: str) -> None:
        outside, _ = outside_of_marks(text, self._depth)
        if self._says(outside):
            self.found.append(f"{where}: {text}")

    def _says(self, text: str) -> bool:
        return bool(re.search(r"[^\W\d_]", self._data.sub(" ", text)))

    def close(self) -> None:
        """A mark that is left open would hide all that follows."""
        super().close()
        if self._depth:
            self.found.append(f"{self._depth} marks are left open")


def outside_of_marks(text: str, depth: int = 0) -> tuple[str, int]:
    """What of a text is outside of every pair of marks, and how many are open after it."""
    outside = []
    for letter in text:
        depth += {"⟦": 1, "⟧": -1}.get(letter, 0)
        if depth == 0 and letter != "⟧":
            outside.append(letter)
    return "".join(outside), depth


def untranslated(html: str, data: "re.Pattern[str]", **exempt: Any) -> list[str]:
    """Every text of a page that is neither translated nor data."""
    page = Page(data, set(exempt["elements"]), set(exempt["classes"]))
    page.feed(html)
    page.close()
    return page.found
