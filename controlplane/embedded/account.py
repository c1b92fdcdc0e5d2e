"""As whom PostgreSQL's programs run: they refuse to run as root."""

import functools
import os
import pwd
import subprocess
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

NOBODY = "nobody"


class Account(StrEnum):
    """The three ways to run a program that refuses root and users without a name."""

    SELF = "self"
    NAMESPACE = "namespace"
    NOBODY = "nobody"


@functools.cache
def account() -> Account:
    """Choose the way: as we are, or nobody in a user namespace, or nobody where that is refused."""
    if os.geteuid() != 0 and _has_a_name(os.geteuid()):
        return Account.SELF
    try:
        probe = subprocess.run(  # noqa: S603
            [*namespace(), "true"], capture_output=True, check=False
        )
    except FileNotFoundError:
        return _without_namespaces()
    return Account.NAMESPACE if probe.returncode == 0 else _without_namespaces()


def _without_namespaces() -> Account:
    return Account.NOBODY if os.geteuid() == 0 else Account.SELF


def _has_a_name(user: int) -> bool:
    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True


def namespace() -> list[str]:
    """Return the words before a command that show it this user under the name of nobody.

    It owns the same files, without one permission widened. Nobody is the one ordinary user that
    every machine knows, and PostgreSQL looks its user's name up.
    """
    entry = pwd.getpwnam(NOBODY)
    return ["unshare", "--user", f"--map-user={entry.pw_uid}", f"--map-group={entry.pw_gid}"]


def owner_ids() -> tuple[int, int]:
    """Return the user and group that must own the data folder."""
    if account() is Account.NOBODY:
        entry = pwd.getpwnam(NOBODY)
        return entry.pw_uid, entry.pw_gid
    return os.geteuid(), os.getegid()


def as_account(command: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Return the command line and the keywords with which Popen runs it as that account."""
    match account():
        case Account.SELF:
            return list(command), {}
        case Account.NAMESPACE:
            return [*namespace(), *command], {}
        case Account.NOBODY:
            user, group = owner_ids()
            return list(command), {"user": user, "group": group, "extra_groups": [], "cwd": "/"}
