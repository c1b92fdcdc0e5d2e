"""A query for tasks as a tree, and how the tree is written as text again."""

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tasks_app.core.search.query_paths import LOST, written_path


class Op(StrEnum):
    """How a field's value is compared."""

    IS = ""
    MORE = ">"
    AT_LEAST = ">="
    LESS = "<"
    AT_MOST = "<="


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of the query's text, from ``start`` up to ``end``."""

    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """Words that stand in a task's id, key, error or payload."""

    text: str
    at: Span = dataclasses.field(default=Span(), compare=False)


@dataclass(frozen=True, slots=True)
class Match:
    """One field compared with a value, as it was typed; ``path`` leads into a payload or result."""

    field: str
    value: str
    op: Op = Op.IS
    path: tuple[str, ...] = ()
    at: Span = dataclasses.field(default=Span(), compare=False)
    value_at: Span = dataclasses.field(default=Span(), compare=False)

    @property
    def name(self) -> str:
        """The field with its path.

        >>> Match("payload", "42", path=("customer", "id")).name
        'payload.customer.id'
        """
        return written_path(self.field, self.path)


@dataclass(frozen=True, slots=True)
class Not:
    """What must not hold."""

    of: "Node"


@dataclass(frozen=True, slots=True)
class AllOf:
    """Everything of this holds; at least two parts, none of them an AllOf."""

    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of this holds; at least two parts, none of them an AnyOf."""

    parts: "tuple[Node, ...]"


Node = Text | Match | Not | AllOf | AnyOf


def all_of(parts: Iterable[Node]) -> Node | None:
    """The parts joined, without an AllOf within an AllOf; None for no part.

    >>> all_of([Text("a")])
    Text(text='a', at=Span(start=0, end=0))
    """
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, AllOf) else [part])
    return AllOf(tuple(flat)) if len(flat) > 1 else flat[0] if flat else None


def any_of(parts: Iterable[Node]) -> Node | None:
    """The alternatives, without an AnyOf within an AnyOf; None for none."""
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, AnyOf) else [part])
    return AnyOf(tuple(flat)) if len(flat) > 1 else flat[0] if flat else None


def conjuncts(node: Node | None) -> Sequence[Node]:
    """What must hold at once: the parts that a page shows as chips, each removable alone.

    >>> [write(part) for part in conjuncts(AllOf((Text("a"), Match("kind", "k"))))]
    ['a', 'kind:k']
    """
    if node is None:
        return ()
    return node.parts if isinstance(node, AllOf) else (node,)


def matches_of(node: Node | None) -> Iterable[Match]:
    """Every comparison in the tree, in the order of the text."""
    if isinstance(node, Match):
        yield node
    elif isinstance(node, Not):
        yield from matches_of(node.of)
    elif isinstance(node, AllOf | AnyOf):
        for part in node.parts:
            yield from matches_of(part)


def has_text(node: Node | None) -> bool:
    """Whether free words are sought anywhere in the tree."""
    if isinstance(node, Not):
        return has_text(node.of)
    if isinstance(node, AllOf | AnyOf):
        return any(has_text(part) for part in node.parts)
    return isinstance(node, Text)


_PLAIN_VALUE: Final = re.compile(r'[^\s"\\()<>=]+')
_PLAIN_WORD: Final = re.compile(r'[^\s"\\():-][^\s"\\():]*')
_WORDS_WITH_MEANING: Final = frozenset({"OR", "AND"})


def write(node: Node | None) -> str:
    """The query as text; reading it gives the same tree.

    >>> write(AllOf((Match("status", "dead"), AnyOf((Text("two words"), Text("b"))))))
    'status:dead ("two words" OR b)'
    """
    if node is None:
        return ""
    if isinstance(node, AnyOf):
        return " OR ".join(write(part) for part in node.parts)
    if isinstance(node, AllOf):
        return " ".join(_bracketed(part, AnyOf) for part in node.parts)
    if isinstance(node, Not):
        return "-" + _bracketed(node.of, AnyOf, AllOf)
    if isinstance(node, Match):
        return f"{node.name}:{node.op}{quoted_if_needed(node.value)}"
    plain = _PLAIN_WORD.fullmatch(node.text) and node.text not in _WORDS_WITH_MEANING
    plain = plain and not LOST.match(node.text)
    return node.text if plain else quoted(node.text)


def _bracketed(node: Node, *kinds: type) -> str:
    return f"({write(node)})" if isinstance(node, kinds) else write(node)


def quoted(text: str) -> str:
    r"""The text in quotes.

    >>> quoted('say "x"')
    '"say \\"x\\""'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def quoted_if_needed(value: str) -> str:
    """A field's value, in quotes where it could be read as something else.

    >>> quoted_if_needed("w3"), quoted_if_needed(">x"), quoted_if_needed("")
    ('w3', '">x"', '""')
    """
    return value if _PLAIN_VALUE.fullmatch(value) else quoted(value)
