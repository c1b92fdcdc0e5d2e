"""Tokens of programs: made once, shown once, kept as a digest, compared in constant time."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from tasks_app.core.people.scopes import STANDARD, Scope, read_scopes
from tasks_app.core.words import say
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.transactions import transactional
from tasks_app.store.people import tokens as store

LONGEST_NAME: Final = 100
LONGEST_LIFE_DAYS: Final = 3650
GRACE_DAYS: Final = 7
"""Days for which a token that was rotated lives on beside its successor."""

MOST_LIVE: Final = 2
"""Live tokens of one name: the old one and the new one while a program changes over."""


# Whatever has another shape is refused without a question to the record.
_SHAPE: Final = re.compile(r"chg_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token just made; ``text`` is what its holder sends, and is nowhere kept."""

    id: int
    name: str
    prefix: str
    text: str
    scopes: Sequence[Scope]
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Program:
    """Who holds a live token, and what it may do."""

    name: str
    prefix: str
    scopes: frozenset[str]

    def __str__(self) -> str:
        return self.name

    def may(self, scope: Scope) -> bool:
        """Whether the token has a scope."""
        return scope in self.scopes

    def actor(self, address: str) -> Actor:
        """The program behind an act: an operator if its token has that scope."""
        role = Role.OPERATOR if self.may(Scope.OPERATE) else Role.VIEWER
        return Actor(self.name, address, f"token {self.prefix}", role)


@needs(Role.ADMIN)
@transactional
def create(
    name: str,
    actor: Actor,
    expires_days: int | None = None,
    scopes: Sequence[str] = STANDARD,
) -> NewToken:
    """Make a token with 256 random bits. Raises ValueError for a bad name, life or scope."""
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValueError(
            say("name: give 1 to %(longest)s printable characters", longest=LONGEST_NAME)
        )
    if expires_days is not None and not 1 <= expires_days <= LONGEST_LIFE_DAYS:
        raise ValueError(say("expiry: give 1 to %(most)s days", most=LONGEST_LIFE_DAYS))
    token = _insert(name, read_scopes(scopes), expires_days)
    subject = f"{name} ({token.prefix})"
    note(actor, "create token", subject, scopes=[*token.scopes], expires_days=expires_days)
    return token


def _insert(name: str, scopes: Sequence[Scope], expires_days: int | None) -> NewToken:
    prefix, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    expires_at = None if expires_days is None else datetime.now(UTC) + timedelta(days=expires_days)
    token_id = store.insert_token(
        name=name, prefix=prefix, digest=_digest(secret), scopes=scopes, expires_at=expires_at
    )
    return NewToken(token_id, name, prefix, f"chg_{prefix}_{secret}", scopes, expires_at)


@needs(Role.ADMIN)
@transactional
def rotate(
    prefix: str, actor: Actor, expires_days: int | None = None, grace_days: int = GRACE_DAYS
) -> tuple[NewToken, datetime | None]:
    """Make a successor with the same name and scopes; return it and when the old token ends.

    Both live for the days of grace, so that their program can change over at its leisure. Raises
    ValueError when there is no such token, or when two of its name live already.
    """
    if not 0 <= grace_days <= LONGEST_LIFE_DAYS:
        raise ValueError(say("grace: give 0 to %(most)s days", most=LONGEST_LIFE_DAYS))
    if expires_days is not None and not 1 <= expires_days <= LONGEST_LIFE_DAYS:
        raise ValueError(say("expiry: give 1 to %(most)s days", most=LONGEST_LIFE_DAYS))
    found = store.lock_live(prefix)
    if found is None:
        raise ValueError(say("prefix: no live token has %(prefix)s", prefix=repr(prefix)))
    name, scopes = found
    if store.count_live(name) >= MOST_LIVE:
        raise ValueError(
            say(
                "%(name)s: %(most)s tokens of this name live already; revoke one first",
                name=name,
                most=MOST_LIVE,
            )
        )
    token = _insert(name, read_scopes(scopes), expires_days)
    ends = store.expire_within(prefix, grace_days * 86400.0)
    subject = f"{name} ({prefix})"
    note(actor, "rotate token", subject, successor=token.prefix, grace_days=grace_days)
    return token, ends


def verify(text: str) -> Program | None:
    """The program whose live token this is, or None."""
    shape = _SHAPE.fullmatch(text)
    found = store.find_live(shape[1]) if shape else None
    if shape is None or found is None:
        return None
    digest, name, scopes = found
    if not hmac.compare_digest(digest, _digest(shape[2])):
        return None
    return Program(name, shape[1], frozenset(scopes))


@needs(Role.ADMIN)
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
