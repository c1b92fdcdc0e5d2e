"""The audit as it is searched, exported and checked: newest first, keyset pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from tasks_app.core.masking.hidden_actions import EDIT, SEARCHES
from tasks_app.store import sql

PAGE: Final = 50
LOOKED_AT: Final = 20_000
"""Entries that one page looks at before it says where it stopped."""

EXPORTED_AT_ONCE: Final = 500
CHECKED_AT_ONCE: Final = 5_000


EVERY: Final = "true"
SHARED: Final = """
NOT (action = ANY (%(searches)s::text[]) AND coalesce(detail ->> 'shared', 'false') <> 'true')
"""
TYPED_TEXT: Final = (
    f"CASE WHEN {SHARED} THEN concat_ws(E'\\n', subject, wanted) END, before, after, detail"
)
GUARDED_TEXT: Final = (
    f"CASE WHEN {SHARED} THEN subject END,"
    " CASE WHEN action <> %(edit)s THEN concat_ws(E'\\n', before, after) END, detail"
)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """What the audit is narrowed to, where not empty; ``text`` stands anywhere in an entry.

    Private searches are found by nobody. ``guarded``: neither are queries and payloads, for who may
    not see the values in them.
    """

    actor: str = ""
    action: str = ""
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None
    guarded: bool = False

    def conditions(self) -> str:
        """The conditions on the entries in SQL; their parameters are ``params``."""
        parts = [EVERY]
        if self.actor:
            parts.append("actor = %(actor)s")
        if self.action:
            parts.append("action = %(action)s")
        if self.since:
            parts.append("at >= %(since)s")
        if self.until:
            parts.append("at < %(until)s")
        if self.text:
            typed = GUARDED_TEXT if self.guarded else TYPED_TEXT
            parts.append(f"concat_ws(E'\\n', reason, address, via, {typed}) ILIKE %(like)s")
        return " AND ".join(parts)

    def params(self) -> dict[str, Any]:
        """The parameters of ``conditions``."""
        plain = self.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return {
            "actor": self.actor,
            "action": self.action,
            "since": self.since,
            "until": self.until,
            "like": f"%{plain}%",
            "edit": EDIT,
            "searches": sorted(SEARCHES),
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """One act; ``before``, ``after`` and ``detail`` as JSON has them, ``digest`` in hex."""

    id: int
    at: datetime
    actor: str
    address: str
    via: str
    action: str
    subject: str
    wanted: str
    count: int
    reason: str
    before: Any
    after: Any
    detail: Any
    digest: str


ENTRIES = """
SELECT id, at, actor, address, via, action, subject, wanted, count, reason, before, after, detail,
       encode(digest, 'hex')
  FROM (SELECT * FROM audit_entry WHERE {bound} ORDER BY id {direction} LIMIT %(looked_at)s) e
 WHERE {conditions}
 ORDER BY id {direction}
 LIMIT %(page)s
"""

END_OF_WINDOW = """
SELECT id FROM audit_entry WHERE {bound} ORDER BY id {direction}
OFFSET %(looked_at)s - 1 LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of entries with the cursors of its neighbours; ``stopped``: it looked no further."""

    rows: Sequence[Entry]
    older: int | None = None
    newer: int | None = None
    stopped: bool = False


def list_entries(
    wanted: AuditFilter,
    before: int | None = None,
    after: int | None = None,
    most: int | None = None,
) -> AuditPage:
    """Read the page older than ``before``, or newer than ``after``, or the newest."""
    most = most or PAGE
    upwards = before is None and after is not None
    bound = "true" if before is None and after is None else f"id {'>' if upwards else '<'} %(id)s"
    parts = {"bound": bound, "direction": "ASC" if upwards else "DESC"}
    params = {
        **wanted.params(),
        "id": before if before is not None else after,
        "page": most + 1,
        "looked_at": LOOKED_AT,
    }
    rows = _entries(ENTRIES.format(conditions=wanted.conditions(), **parts), params)
    more, rows = len(rows) > most, rows[:most]
    # Without a condition the entries themselves end where there are fewer than a page.
    ends = more or wanted.conditions() == EVERY
    end = None if ends else sql.row(END_OF_WINDOW.format(**parts), params)
    onward = rows[-1].id if more else int(end[0]) if end else None
    if upwards:
        rows.reverse()
        return AuditPage(rows, rows[-1].id if rows else after, onward, stopped=end is not None)
    back = None if before is None else rows[0].id if rows else before - 1
    return AuditPage(rows, onward, back, stopped=end is not None)


def every_entry(wanted: AuditFilter) -> Iterator[Sequence[Entry]]:
    """All that match, the newest first, read page by page: for an export."""
    before: int | None = None
    while True:
        page = list_entries(wanted, before, most=EXPORTED_AT_ONCE)
        yield page.rows
        if page.older is None:
            return
        before = page.older


def _entries(statement: str, params: dict[str, Any]) -> list[Entry]:
    return [
        Entry(*[*row[:10], *map(sql.loaded, row[10:13]), row[13]])
        for row in sql.rows(statement, params)
    ]


FIND = """
SELECT id, at, actor, address, via, action, subject, wanted, count, reason, before, after, detail,
       encode(digest, 'hex')
  FROM audit_entry WHERE id = %(id)s
"""


def find_entry(number: int) -> Entry | None:
    """One entry, or None."""
    found = _entries(FIND, {"id": number})
    return found[0] if found else None


ACTIONS = """
SELECT DISTINCT action
  FROM (SELECT action FROM audit_entry ORDER BY id DESC LIMIT 5000) e
 ORDER BY 1
"""


def list_actions() -> list[str]:
    """Names of the acts among the latest 5,000, for a choice."""
    return [name for (name,) in sql.rows(ACTIONS)]


# What a row's digest must be follows from the row and the digest before it.
CHECK = """
SELECT id, digest = audit_digest(coalesce(lag(digest) OVER w, decode(%(before)s, 'hex')), e),
       encode(digest, 'hex')
  FROM (SELECT * FROM audit_entry WHERE id > %(after)s ORDER BY id LIMIT %(limit)s) e
WINDOW w AS (ORDER BY id)
 ORDER BY id
"""

HEAD = "SELECT last, encode(digest, 'hex') FROM audit_head WHERE id = 1"


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What a look at the chain found: how many entries, the first fault and its number."""

    entries: int
    fault: str = ""
    broken_at: int | None = None


def check_chain() -> ChainReport:
    """Follow the chain from its first entry to its head, in bounded batches."""
    after, before, entries = 0, "", 0
    while True:
        batch = sql.rows(CHECK, {"after": after, "before": before, "limit": CHECKED_AT_ONCE})
        for number, holds, digest in batch:
            if not holds:
                return ChainReport(entries, _told(number, after), number)
            entries, after, before = entries + 1, number, digest
        if len(batch) < CHECKED_AT_ONCE:
            return _with_head(entries, after, before)


def _told(number: int, after: int) -> str:
    gap = f" or an entry between {after} and {number} is gone" if number > after + 1 else ""
    return f"entry {number} is not what was written{gap}"


def _with_head(entries: int, last: int, digest: str) -> ChainReport:
    head = sql.row(HEAD)
    if head is None:
        fault = "the head of the chain is missing" if entries else ""
        return ChainReport(entries, fault, last + 1 if entries else None)
    if (int(head[0]), head[1]) == (last, digest):
        return ChainReport(entries)
    return ChainReport(
        entries, f"the chain ends at entry {last}, its head says {head[0]}", last + 1
    )
