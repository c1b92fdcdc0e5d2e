"""Tokens of programs: made once, shown once, kept as a digest, compared in constant time."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from tasks_app.services.auditing import note
from tasks_app.services.people import Actor
from tasks_app.services.transactions import transactional
from tasks_app.store import tokens as store

LONGEST_NAME: Final = 100
LONGEST_LIFE_DAYS: Final = 3650

# Whatever has another shape is refused without a question to the record.
_SHAPE: Final = re.compile(r"chg_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token just made; ``text`` is what its holder sends, and is nowhere kept."""

    name: str
    prefix: str
    text: str
    expires_at: datetime | None


@transactional
def create(name: str, actor: Actor, expires_days: int | None = None) -> NewToken:
    """Make a token with 256 random bits. Raises ValueError for a bad name or life."""
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValueError(f"name: give 1 to {LONGEST_NAME} printable characters")
    if expires_days is not None and not 1 <= expires_days <= LONGEST_LIFE_DAYS:
        raise ValueError(f"expiry: give 1 to {LONGEST_LIFE_DAYS} days")
    prefix, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    expires_at = None if expires_days is None else datetime.now(UTC) + timedelta(days=expires_days)
    store.insert_token(
        name=name, prefix=prefix, digest=_digest(secret), user=None, expires_at=expires_at
    )
    note(actor, "create token", f"{name} ({prefix})")
    return NewToken(name, prefix, f"chg_{prefix}_{secret}", expires_at)


def verify(text: str) -> str | None:
    """The name of the live token that this is, or None."""
    shape = _SHAPE.fullmatch(text)
    found = store.find_live(shape[1]) if shape else None
    if shape is None or found is None:
        return None
    digest, name = found
    return name if hmac.compare_digest(digest, _digest(shape[2])) else None


@transactional
def revoke(prefix: str, actor: Actor) -> bool:
    """End a token at once; False when no live one has this prefix."""
    ended = store.revoke(prefix)
    if ended:
        note(actor, "revoke token", prefix)
    return ended


def _digest(secret: str) -> str:
    # 256 random bits leave nothing to guess, so that a slow hash would protect nothing.
    return hashlib.sha256(secret.encode()).hexdigest()
