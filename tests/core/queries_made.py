"""Queries for tests of the language and of the search."""

from datetime import datetime

from hypothesis import strategies as st

from tasks_app.core.search.queries import Match, Node, Not, Op, Text, all_of, any_of
from tasks_app.core.search.query_fields import FIELDS, ORDERED, REASONS, STATUSES, Takes, Vocabulary

KNOWN = Vocabulary(
    kinds=["classify_ticket", "send mail", "a"],
    workers=["w1", "w2"],
    paths=["payload.customer.id", 'payload."Ticket ID"', 'payload."a:b c"'],
    causes=[("0a1b2c3d4e5f6071", "KeyError: no ticket #")],
)
SIGNS = st.characters(codec="utf-8", exclude_characters="\x00")
KEYS = ["n", "customer", "id_2", "0", "Ticket ID", "a.b", "a:b", 'say "x"', "back\\", "100%", ""]
KEY_SIGNS = st.text(SIGNS, max_size=5)
WORDS = st.text(SIGNS, min_size=1, max_size=12).filter(str.strip)
VALUES = {
    Takes.STATUS: st.sampled_from(STATUSES),
    Takes.REASON: st.sampled_from(REASONS),
    Takes.KIND: st.sampled_from(["classify_ticket", "send mail", "a"]),
    Takes.WORKER: st.sampled_from(["w1", "w2"]),
    Takes.TEXT: WORDS,
    Takes.ID: st.uuids().map(str),
    Takes.CAUSE: st.sampled_from(["0a1b2c3d4e5f6071", "none"]),
    Takes.NUMBER: st.integers(-1000, 1000).map(str),
    Takes.SECONDS: st.sampled_from(["5s", "1h30m", "2d", "1.5h"]),
    Takes.INSTANT: st.datetimes(datetime(1980, 1, 1), datetime(2200, 1, 1)).map(  # noqa: DTZ001
        lambda at: at.isoformat()
    ),
    Takes.JSON: st.integers(-10, 10).map(str),
}


@st.composite
def comparisons(draw: st.DrawFn) -> Match:
    """One field compared with a value that it takes."""
    field = FIELDS[draw(st.sampled_from(sorted(FIELDS)))]
    path: tuple[str, ...] = ()
    if field.takes is Takes.JSON:
        path = tuple(draw(st.lists(st.sampled_from(KEYS) | KEY_SIGNS, max_size=3)))
    ordered = field.takes in ORDERED and (field.takes is not Takes.JSON or path)
    ops = [op for op in Op if op or field.takes not in (Takes.SECONDS, Takes.INSTANT)]
    op = draw(st.sampled_from(ops)) if ordered else Op.IS
    return Match(field.name, draw(VALUES[field.takes]), op, path)


def _joined(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    several = st.lists(children, min_size=2, max_size=3)
    both = several.map(lambda parts: all_of(parts) or parts[0])
    either = several.map(lambda parts: any_of(parts) or parts[0])
    return st.one_of(both, either, children.map(Not))


TREES: st.SearchStrategy[Node] = st.recursive(
    st.one_of(comparisons(), WORDS.map(Text)), _joined, max_leaves=8
)
