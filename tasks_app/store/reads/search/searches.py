"""Saved searches as somebody sees them: their own and the shared ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tasks_app.store import sql

MOST_SHOWN: Final = 300
MOST_PINNED: Final = 20

SEARCHES = """
SELECT s.id, s.name, s.query, s.address, s.owner_id, u.username, s.shared, p.user_id IS NOT NULL
  FROM saved_search s
  JOIN auth_user u ON u.id = s.owner_id
  LEFT JOIN search_pin p ON p.search_id = s.id AND p.user_id = %(user)s
 WHERE (s.owner_id = %(user)s OR s.shared) AND {which}
 ORDER BY s.owner_id <> %(user)s, lower(s.name), s.id
 LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A saved search; ``address`` is its order and columns; ``pinned`` is the reader's own."""

    id: int
    name: str
    query: str
    address: str
    owner_id: int
    owner: str
    shared: bool
    pinned: bool


def list_searches(user: int) -> Sequence[SearchRow]:
    """What somebody may use, their own first, at most ``MOST_SHOWN``."""
    statement = SEARCHES.format(which="true")
    return [SearchRow(*row) for row in sql.rows(statement, {"user": user, "most": MOST_SHOWN})]


def list_pinned(user: int) -> Sequence[SearchRow]:
    """What somebody has in the side bar, at most ``MOST_PINNED``."""
    statement = SEARCHES.format(which="p.user_id IS NOT NULL")
    return [SearchRow(*row) for row in sql.rows(statement, {"user": user, "most": MOST_PINNED})]


def find_search(user: int, search: int) -> SearchRow | None:
    """One that somebody may see, or None."""
    statement = SEARCHES.format(which="s.id = %(search)s")
    found = sql.row(statement, {"user": user, "most": 1, "search": search})
    return None if found is None else SearchRow(*found)
