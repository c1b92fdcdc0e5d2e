"""JSON as a tree that folds, by details and summary alone: it needs no script, and runs none."""

import json
from collections.abc import Iterable
from typing import Any, Final

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext

from tasks_app.core.drawing.page_room import VALUES_OF_ONE, Room
from tasks_app.core.drawing.visible import visible

register = template.Library()

MOST_VALUES: Final = VALUES_OF_ONE

OPEN_DEPTH: Final = 2
OPEN_LENGTH: Final = 30
"""What is deeper or longer begins folded."""

LONGEST_TEXT: Final = 400
"""Characters of a text before it is folded."""

NOTHING: Final = mark_safe("")


@register.simple_tag
def json_tree(value: Any, room: Any = None) -> SafeString:
    """Draw a JSON value, as far as there is ``room`` for it on the page."""
    drawing = _Drawing(room if isinstance(room, Room) else Room())
    tree = drawing.value(value, 0)
    if not drawing.cut:
        return tree
    cut = gettext("Cut after %(values)s values; the file has all of it.")
    return format_html('{}<p class="soft">{}</p>', tree, cut % {"values": drawing.drawn})


class _Drawing:
    """One drawing of a page: how many values it has ``drawn``, and whether it was ``cut``."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.drawn = 0
        self.cut = False

    def _has_room(self) -> bool:
        if self.drawn >= MOST_VALUES or not self._room.value():
            self.cut = True
            return False
        self.drawn += 1
        return True

    def value(self, value: Any, depth: int) -> SafeString:
        """A value inside ``depth`` containers."""
        if isinstance(value, dict):
            named = ((_key(str(name)), each) for name, each in value.items())
            return self._container("{", "}", len(value), named, depth)
        if isinstance(value, list):
            numbered = ((_index(at), each) for at, each in enumerate(value))
            return self._container("[", "]", len(value), numbered, depth)
        if isinstance(value, str):
            if self._room.text(len(value)):
                return _text(value)
            self.cut = True
            return _text(value[:LONGEST_TEXT])
        return format_html('<span class="v">{}</span>', json.dumps(value))

    def _container(
        self,
        opening: str,
        closing: str,
        length: int,
        parts: Iterable[tuple[SafeString, Any]],
        depth: int,
    ) -> SafeString:
        if not length:
            return format_html('<span class="v">{}{}</span>', opening, closing)
        drawn = []
        for name, each in parts:
            if not self._has_room():
                break
            drawn.append((name, self.value(each, depth + 1)))
        is_open = depth < OPEN_DEPTH and length <= OPEN_LENGTH
        return format_html(
            "<details{}><summary>{}<i>{}</i>{}</summary><ul>{}</ul></details>",
            mark_safe(" open") if is_open else NOTHING,
            opening,
            ngettext("%(count)s item", "%(count)s items", length) % {"count": length},
            closing,
            format_html_join("", "<li>{} {}</li>", drawn),
        )


def _key(name: str) -> SafeString:
    shown = visible(name[:LONGEST_TEXT])[:LONGEST_TEXT]
    return format_html('<span class="k"><bdi>{}</bdi></span>', shown)


def _index(at: int) -> SafeString:
    return format_html('<span class="k at">{}</span>', at)


def _text(value: str) -> SafeString:
    written = visible(json.dumps(value, ensure_ascii=False))
    if len(written) <= LONGEST_TEXT:
        return format_html('<span class="v s"><bdi>{}</bdi></span>', written)
    return format_html(
        '<details class="long"><summary><bdi>{}…</bdi> <i>{}</i></summary>'
        '<pre class="s"><bdi>{}</bdi></pre></details>',
        written[:120],
        gettext("%(count)s characters") % {"count": len(value)},
        visible(value),
    )
