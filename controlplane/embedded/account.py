"""As whom PostgreSQL's programs run: they refuse to run as root."""

import functools
import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

# Root outside is this user inside: it owns the same files, without one permission widened.
NAMESPACE = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
NOBODY = "nobody"


class Account(StrEnum):
    """The three ways to run a program that refuses root."""

    SELF = "self"
    NAMESPACE = "namespace"
    NOBODY = "nobody"


@functools.cache
def account() -> Account:
    """Choose the way: as we are, or root in a user namespace, or nobody where that is refused."""
    if os.geteuid() != 0:
        return Account.SELF
    unshare = shutil.which(NAMESPACE[0])
    if unshare is None:
        return Account.NOBODY
    probe = subprocess.run(  # noqa: S603
        [unshare, *NAMESPACE[1:], "true"], capture_output=True, check=False
    )
    return Account.NAMESPACE if probe.returncode == 0 else Account.NOBODY


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
            return [*NAMESPACE, *command], {}
        case Account.NOBODY:
            user, group = owner_ids()
            return list(command), {"user": user, "group": group, "extra_groups": [], "cwd": "/"}
