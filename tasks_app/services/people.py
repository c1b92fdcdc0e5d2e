"""Who acts, and what they may do."""

from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

OPERATOR_GROUPS: Final = ("operator", "admin")


@dataclass(frozen=True, slots=True)
class Actor:
    """A person or program behind an act, for the audit: its name and network address."""

    name: str
    address: str = ""


def may_operate(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Tell whether a user may change anything: staff, or a member of operator or admin."""
    if not user.is_authenticated or not user.is_active:
        return False
    if getattr(user, "is_staff", False):
        return True
    groups = getattr(user, "groups", None)
    return groups is not None and groups.filter(name__in=OPERATOR_GROUPS).exists()
