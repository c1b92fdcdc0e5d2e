"""Who acts, and what they may do."""

import hashlib
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

OPERATOR_GROUPS: Final = ("operator", "admin")


@dataclass(frozen=True, slots=True)
class Actor:
    """A person or program behind an act, for the audit: its name, and where it acted from.

    ``address`` is the network's; ``via`` names the session, token or command, and holds no secret.
    """

    name: str
    address: str = ""
    via: str = ""

    @classmethod
    def in_session(cls, name: str, address: str, key: str | None) -> "Actor":
        """A person at a browser; the session is named by a digest of its key."""
        named = hashlib.sha256(key.encode()).hexdigest()[:8] if key else "unknown"
        return cls(name, address, f"session {named}")


def may_operate(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Tell whether a user may change anything: staff, or a member of operator or admin."""
    if not user.is_authenticated or not user.is_active:
        return False
    if getattr(user, "is_staff", False):
        return True
    groups = getattr(user, "groups", None)
    return groups is not None and groups.filter(name__in=OPERATOR_GROUPS).exists()
