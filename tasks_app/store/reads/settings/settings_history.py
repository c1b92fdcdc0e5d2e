"""Who changed which settings, from the audit, the newest first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from tasks_app.store import sql

MOST_ACTS: Final = 100

COLUMNS: Final = "id, at, actor, address, action, subject, reason, before, after, detail"


@dataclass(frozen=True, slots=True)
class SettingsAct:
    """One change: ``before`` is None for what was new, ``after`` for what was deleted."""

    id: int
    at: datetime
    actor: str
    address: str
    action: str
    subject: str
    reason: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    detail: Mapping[str, Any]

    @property
    def noun(self) -> str:
        """What was changed: the act's name without its verb."""
        return self.action.partition(" ")[2]

    @property
    def changes(self) -> Sequence[tuple[str, Any, Any]]:
        """(setting, before, after) of each setting that it names."""
        before, after = self.before or {}, self.after or {}
        return [(name, before.get(name), after.get(name)) for name in {**before, **after}]


ACTS = f"""
SELECT {COLUMNS}
  FROM audit_entry
 WHERE subject = %(subject)s AND action = ANY (%(actions)s)
 ORDER BY id DESC
 LIMIT %(limit)s
"""  # noqa: S608  the columns are a constant


def list_acts(noun: str, subject: str) -> list[SettingsAct]:
    """The latest changes of one entry."""
    actions = [f"{verb} {noun}" for verb in ("add", "change", "delete")]
    params = {"subject": subject, "actions": actions, "limit": MOST_ACTS}
    return [_act(row) for row in sql.rows(ACTS, params)]


AFTER = f"""
SELECT {COLUMNS}
  FROM audit_entry
 WHERE subject = %(subject)s AND id > %(after)s
 ORDER BY id
 LIMIT %(limit)s
"""  # noqa: S608  as above


def list_acts_after(subject: str, after: int) -> list[SettingsAct]:
    """What was done to something after an entry of the audit, by whatever act, the oldest first."""
    params = {"subject": subject, "after": after, "limit": MOST_ACTS}
    return [_act(row) for row in sql.rows(AFTER, params)]


MOST_LOOKED_AT: Final = 20_000
"""Entries of the audit among which changes of configuration are looked for."""

LATEST = f"""
SELECT {COLUMNS}
  FROM (SELECT * FROM audit_entry ORDER BY id DESC LIMIT %(looked_at)s) a
 WHERE action = ANY (%(actions)s)
 ORDER BY id DESC
 LIMIT %(limit)s
"""  # noqa: S608  as above


def list_latest_acts(nouns: Sequence[str]) -> list[SettingsAct]:
    """The latest changes of any entry, the newest first."""
    actions = [f"{verb} {noun}" for noun in nouns for verb in ("add", "change", "delete")]
    params = {"actions": actions, "looked_at": MOST_LOOKED_AT, "limit": MOST_ACTS}
    return [_act(row) for row in sql.rows(LATEST, params)]


NEWEST = "SELECT id FROM audit_entry WHERE subject = %(subject)s ORDER BY id DESC LIMIT 1"


def newest_act(subject: str) -> int:
    """The number of the newest entry of the audit about something; 0 where there is none."""
    found = sql.row(NEWEST, {"subject": subject})
    return found[0] if found else 0


ACT = f"SELECT {COLUMNS} FROM audit_entry WHERE id = %(id)s"  # noqa: S608  as above


def find_act(act_id: int) -> SettingsAct | None:
    """One act, or None; also one that changed no settings, which nothing can take back."""
    found = sql.row(ACT, {"id": act_id})
    return None if found is None else _act(found)


def _act(row: tuple[Any, ...]) -> SettingsAct:
    return SettingsAct(*row[:7], *map(sql.loaded, row[7:]))
