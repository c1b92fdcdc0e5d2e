"""Saved searches and who has them in the side bar."""

from typing import Final

from tasks_app.store import sql

MOST_OWN: Final = 100
"""Saved searches of one person."""

# One that has the name already is replaced.
SAVE = """
INSERT INTO saved_search (owner_id, name, query, address, shared)
SELECT %(owner)s, %(name)s, %(query)s, %(address)s, %(shared)s
 WHERE %(most)s > (SELECT count(*) FROM saved_search
                    WHERE owner_id = %(owner)s AND name <> %(name)s)
ON CONFLICT (owner_id, name)
DO UPDATE SET query = excluded.query, address = excluded.address, shared = excluded.shared
RETURNING id
"""

# Whoever has another's search pinned has it no more once it is not shared.
UNSHARE = """
DELETE FROM search_pin p USING saved_search s
 WHERE s.id = p.search_id AND s.id = %(id)s AND NOT s.shared AND p.user_id <> s.owner_id
"""

DELETE = "DELETE FROM saved_search WHERE id = %(id)s"
DELETE_PINS = "DELETE FROM search_pin WHERE search_id = %(id)s"

PIN = """
INSERT INTO search_pin (user_id, search_id)
SELECT %(user)s, id FROM saved_search WHERE id = %(id)s AND (shared OR owner_id = %(user)s)
ON CONFLICT DO NOTHING
"""

UNPIN = "DELETE FROM search_pin WHERE user_id = %(user)s AND search_id = %(id)s"


def save_search(owner: int, name: str, query: str, address: str, *, shared: bool) -> int | None:
    """Write a search, over that of the same name; return its id, or None for one too many."""
    values = {"owner": owner, "name": name, "query": query, "address": address, "shared": shared}
    found = sql.row(SAVE, {**values, "most": MOST_OWN})
    if found is None:
        return None
    sql.execute(UNSHARE, {"id": found[0]})
    return int(found[0])


def delete_search(search: int) -> bool:
    """Delete a search with its pins; False if it is not there."""
    sql.execute(DELETE_PINS, {"id": search})
    return sql.execute(DELETE, {"id": search}) == 1


def pin_search(user: int, search: int) -> bool:
    """Put a search into a side bar; False if it is there or the user may not see it."""
    return sql.execute(PIN, {"user": user, "id": search}) == 1


def unpin_search(user: int, search: int) -> bool:
    """Take a search out of a side bar; False if it is not there."""
    return sql.execute(UNPIN, {"user": user, "id": search}) == 1
