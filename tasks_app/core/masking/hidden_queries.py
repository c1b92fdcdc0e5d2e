"""Queries that others typed, without the values that their readers may not see."""

from dataclasses import replace
from typing import Final

from tasks_app.core.masking.redaction import MASK, Hidden, kinds_that_hide_path
from tasks_app.core.search.queries import AllOf, AnyOf, Match, Node, Not, Text, write
from tasks_app.core.search.query_parsing import parse

SOUGHT_WITHIN: Final = frozenset({"payload", "result", "error", "lock"})
"""Fields whose value is sought in what a task was given, gave and said: at any path, for what a
kind hides may have been filled in at another one."""


def shown_query(text: str, hidden: Hidden) -> str:
    """A query as somebody may read it: what may be a hidden value in it is masked.

    >>> shown_query("kind:pay payload.card:4111 boom", {"pay": frozenset({"card"})})
    'kind:pay payload.card:[redacted] [redacted]'
    """
    if not text or not hidden:
        return text
    read = parse(text)
    if read.node is None or read.faults:
        return MASK
    shown = _shown(read.node)
    return text if shown == read.node else write(shown)


def names_hidden_path(text: str, hidden: Hidden) -> bool:
    """Whether a query compares a value at a path that some kind hides.

    >>> names_hidden_path("payload.card:4111", {"pay": frozenset({"card"})})
    True
    """
    node = parse(text).node if text and hidden else None
    return node is not None and _names_path(node, hidden)


def _shown(node: Node) -> Node:
    if isinstance(node, AllOf | AnyOf):
        return replace(node, parts=tuple(_shown(part) for part in node.parts))
    if isinstance(node, Not):
        return Not(_shown(node.of))
    if isinstance(node, Text):
        return replace(node, text=MASK)
    return replace(node, value=MASK) if node.field in SOUGHT_WITHIN else node


def _names_path(node: Node, hidden: Hidden) -> bool:
    if isinstance(node, AllOf | AnyOf):
        return any(_names_path(part, hidden) for part in node.parts)
    if isinstance(node, Not):
        return _names_path(node.of, hidden)
    return isinstance(node, Match) and bool(kinds_that_hide_path(hidden, node.path))
