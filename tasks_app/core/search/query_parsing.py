"""Reading a query: a tree, or what is wrong where and what to write instead.

``field:value`` compares, a path (``payload.customer."Ticket ID"``) leads into a payload, ``-``
denies, words in quotes stay together, what stands side by side must all hold, ``OR`` between two
joins them more loosely than that, and parentheses group.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tasks_app.core.search.queries import Match, Node, Not, Op, Span, Text, all_of, any_of, quoted
from tasks_app.core.search.query_checks import QueryFault, field_fault, path_fault, value_fault
from tasks_app.core.search.query_fields import Vocabulary
from tasks_app.core.search.query_paths import LOST, NAME, key_of, outside_quotes, split_name
from tasks_app.core.words import say

LONGEST: Final = 1000
"""Characters of a query."""

DEEPEST: Final = 20
"""Parentheses within one another."""

_OPS: Final = (">=", "<=", ">", "<")
_FREE: Final = Vocabulary()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A query that was read; with ``faults`` the tree says only what could be understood."""

    text: str
    node: Node | None
    faults: Sequence[QueryFault] = ()


def parse(text: str, known: Vocabulary = _FREE) -> Parsed:
    """Read a query; never raises.

    >>> parse("status:dead -kind:mail").faults
    ()
    >>> parse("statsu:dead").faults[0].remedies
    ('status:dead', '"statsu:dead"')
    """
    if len(text) > LONGEST:
        message = say(
            "The query has %(text)s characters; at most %(longest)s can be read.",
            text=len(text),
            longest=LONGEST,
        )
        return Parsed(text[:LONGEST], None, (QueryFault(Span(LONGEST - 1, LONGEST), message),))
    reader = _Reader(text, known)
    node = reader.either()
    while not reader.at_end():
        # A closing parenthesis without an opening one: the rest is read all the same.
        at = Span(reader.at, reader.at + 1)
        reader.fault(at, say("No parenthesis is open here."), "")
        reader.at += 1
        node = all_of([each for each in (node, reader.either()) if each])
    return Parsed(text, node, tuple(reader.faults))


class _Reader:
    """One pass over the text, from left to right."""

    def __init__(self, text: str, known: Vocabulary) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.faults: list[QueryFault] = []
        self._known = known

    def fault(self, at: Span, message: str, *instead: str) -> None:
        """Note what is wrong; each of ``instead`` would make sense in its place."""
        if any(fault.at == at for fault in self.faults):
            return
        remedies = (self.text[: at.start] + each + self.text[at.end :] for each in instead)
        self.faults.append(QueryFault(at, message, tuple(each.strip() for each in remedies)))

    def at_end(self) -> bool:
        """Whether nothing is left but blanks."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.at >= len(self.text)

    def either(self) -> Node | None:
        """Alternatives between ``OR``."""
        options: list[Node] = []
        expected: Span | None = None
        while True:
            option = self._together()
            here = self._word_here("OR")
            if option is not None:
                options.append(option)
            elif here or expected:
                lone = here or expected
                assert lone is not None
                self.fault(lone, say("OR needs something on both of its sides."), "", '"OR"')
            if not here:
                return any_of(options)
            expected = here
            self.at = here.end

    def _together(self) -> Node | None:
        """What must hold at once, up to an ``OR``, a closing parenthesis or the end."""
        parts: list[Node] = []
        while not self.at_end() and self.text[self.at] != ")" and not self._word_here("OR"):
            if both := self._word_here("AND"):
                self.at = both.end
                continue
            part = self._denied()
            if part is not None:
                parts.append(part)
        return all_of(parts)

    def _word_here(self, word: str) -> Span | None:
        end = self.at + len(word)
        apart = end >= len(self.text) or self.text[end].isspace() or self.text[end] in "()"
        here = self.text.startswith(word, self.at) and apart
        return Span(self.at, end) if here else None

    def _denied(self) -> Node | None:
        """One part with the minus signs before it."""
        start = self.at
        while self.text.startswith("-", self.at):
            self.at += 1
        signs = self.at - start
        if self.at >= len(self.text) or self.text[self.at].isspace() or self.text[self.at] == ")":
            self.fault(Span(start, self.at), say("Nothing follows the minus sign."), "", '"-"')
            return None
        node = self._part()
        for _ in range(signs if node is not None else 0):
            assert node is not None
            node = Not(node)
        return node

    def _part(self) -> Node | None:
        """A group, a quotation, a comparison or a word."""
        if self.text[self.at] == "(":
            return self._group()
        start = self.at
        if self.text[self.at] == '"':
            words = self._quotation()
            return Text(words, Span(start, self.at)) if words.strip() else None
        named = NAME.match(self.text, self.at)
        if named:
            return self._match(named.group())
        if LOST.match(self.text, self.at):
            self._lost_path()
            return None
        word = self._word()
        return Text(word, Span(start, self.at))

    def _lost_path(self) -> None:
        """Tell of a path that was written wrongly: as a word it would find nothing, silently."""
        end = len(self.text)
        for place, sign in outside_quotes(self.text[self.at :]):
            if sign.isspace() or (sign == ")" and self.depth):
                end = self.at + place
                break
        wrong = path_fault(self.text, Span(self.at, end))
        self.fault(wrong.at, wrong.message, *wrong.remedies)
        self.at = wrong.at.end

    def _group(self) -> Node | None:
        start = self.at
        self.at += 1
        if self.depth >= DEEPEST:
            self.fault(
                Span(start, start + 1),
                say("More than %(deepest)s parentheses are open here.", deepest=DEEPEST),
            )
            return None
        self.depth += 1
        node = self.either()
        self.depth -= 1
        if self.at < len(self.text) and self.text[self.at] == ")":
            self.at += 1
            if node is None:
                self.fault(Span(start, self.at), say("Nothing is between the parentheses."), "")
        else:
            self.fault(Span(start, start + 1), say("This parenthesis is never closed."), "")
        return node

    def _quotation(self) -> str:
        start = self.at
        self.at += 1
        said: list[str] = []
        while self.at < len(self.text):
            sign = self.text[self.at]
            self.at += 1
            if sign == '"':
                return "".join(said)
            if sign == "\\" and self.at < len(self.text):
                sign = self.text[self.at]
                self.at += 1
            said.append(sign)
        self.fault(
            Span(start, self.at),
            say("This quotation is never closed."),
            quoted("".join(said).strip()),
        )
        return "".join(said)

    def _word(self) -> str:
        """Up to a blank; parentheses belong to the word while they are opened within it."""
        start, opened = self.at, 0
        while self.at < len(self.text) and not self.text[self.at].isspace():
            sign = self.text[self.at]
            if sign == '"' and self.at > start:
                break
            if sign == ")" and not opened and (self.depth or self.at == start):
                break
            opened += (sign == "(") - (sign == ")" and opened > 0)
            self.at += 1
        return self.text[start : self.at]

    def _match(self, name: str) -> Node | None:
        start = self.at
        self.at += len(name) + 1
        after = self.at
        op = next((op for op in _OPS if self.text.startswith(op, self.at)), "")
        self.at += len(op)
        value_start = self.at
        value = self._quotation() if self.text.startswith('"', self.at) else self._word()
        at, value_at = Span(start, self.at), Span(value_start, self.at)
        field, steps = split_name(name)
        match = Match(field.lower(), value, Op(op), tuple(map(key_of, steps)), at, value_at)
        wrong = field_fault(match, name, self.text[start : self.at])
        wrong = wrong or value_fault(match, Span(after, self.at), self._known)
        if wrong is not None:
            self.fault(wrong.at, wrong.message, *wrong.remedies)
            return None
        return match
