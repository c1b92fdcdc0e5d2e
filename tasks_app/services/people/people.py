"""Who acts, and what they may do: decided here, whichever way a request came."""

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import PermissionDenied

from tasks_app.core.words import say

P = ParamSpec("P")
R = TypeVar("R")
User = AbstractBaseUser | AnonymousUser


class Role(IntEnum):
    """What somebody may do; each includes those before it."""

    NOBODY = 0
    VIEWER = 1
    OPERATOR = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Actor:
    """A person or program behind an act: its name, where it acted from, and its role.

    ``address`` is the network's; ``via`` names the session, token or command, and holds no secret.
    """

    name: str
    address: str = ""
    via: str = ""
    role: Role = Role.OPERATOR

    @classmethod
    def in_session(cls, user: "User", address: str, key: str | None) -> "Actor":
        """A person at a browser; the session is named by a digest of its key."""
        named = hashlib.sha256(key.encode()).hexdigest()[:8] if key else "unknown"
        return cls(user.get_username(), address, f"session {named}", role_of(user))


class NotAllowed(PermissionDenied):
    """The act needs a higher role than its actor has; nothing was done."""


NEEDED: Final[dict[str, Role]] = {}
"""The role that each act needs, by module and name."""


def needs(role: Role) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse an ``actor`` below a role before the act begins. Raises NotAllowed."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        NEEDED[f"{function.__module__}.{function.__name__}"] = role

        @wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            actor: Actor = signature.bind(*args, **kwargs).arguments["actor"]
            if actor.role < role:
                act = function.__name__.replace("_", " ")
                raise NotAllowed(
                    say(
                        "%(act)s: needs the role %(needed)s; %(person)s has the role %(role)s",
                        act=act,
                        needed=role.name.lower(),
                        person=actor.name,
                        role=actor.role.name.lower(),
                    )
                )
            return function(*args, **kwargs)

        return wrapped

    return decorate


def role_of(user: User) -> Role:
    """The highest role that a user's groups give; whoever may log in may look.

    Superusers are admins, and staff without a group are operators. Read once for each user object,
    so once a request.
    """
    if not user.is_authenticated or not user.is_active:
        return Role.NOBODY
    account: Any = user
    known: Role | None = getattr(account, "_role", None)
    if known is None:
        known = account._role = _read_role(account)
    return known


def _read_role(user: Any) -> Role:
    if user.is_superuser:
        return Role.ADMIN
    groups = {group.name for group in user.groups.all()}
    if "admin" in groups:
        return Role.ADMIN
    return Role.OPERATOR if user.is_staff or "operator" in groups else Role.VIEWER


def may_operate(user: User) -> bool:
    """Tell whether a user may act on tasks, jobs and workers."""
    return role_of(user) >= Role.OPERATOR


def may_administer(user: User) -> bool:
    """Tell whether a user may change configuration, people and tokens."""
    return role_of(user) >= Role.ADMIN


class RoleBackend(BaseBackend):
    """Gives admins the permissions of Django's admin, without a table of them to keep up.

    What is a right of its own, such as to see payloads, must be given to them as to anybody.
    """

    def has_perm(self, user_obj: Any, perm: str, obj: object = None) -> bool:
        """Whether the user is an admin and this is about adding, changing and the like."""
        verb = perm.partition(".")[2].partition("_")[0]
        return verb in ("add", "change", "delete", "view") and may_administer(user_obj)

    def has_module_perms(self, user_obj: Any, app_label: str) -> bool:
        """Whether the user is an admin."""
        return may_administer(user_obj)
