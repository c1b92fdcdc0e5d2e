"""What the environment may say, read strictly: a wrong setting is one sentence and exit code 1."""

import contextlib
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from controlplane.postgresql.startup_options import Clash, merged
from tasks_app.core.people.request_rates import Rate, read_rate

ROOT = Path(__file__).resolve().parent.parent
MODES = ("local", "production")

SHORTEST_SECRET = 8
"""Characters of a secret in a file: enough to tell it from one that was cut off."""

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off"})


class SettingError(SystemExit):
    """A missing or malformed setting; every entry point ends on it without a traceback."""


def refuse(name: str, fault: str, remedy: str) -> NoReturn:
    """End the process with a sentence that names the setting, what is wrong, and what to do."""
    raise SettingError(f"Setting {name} {fault}: {remedy}.")


def mode() -> str:
    """Return ``local`` (default: everything embedded) or ``production`` (nothing assumed)."""
    value = os.environ.get("CHARGEHAND_ENV", "local")
    if value not in MODES:
        refuse("CHARGEHAND_ENV", f"is {value!r}", "set it to local or production, or leave it out")
    return value


def var_folder() -> Path:
    """Return the folder of everything that this copy writes (``CHARGEHAND_VAR``, else ``var``)."""
    return Path(os.environ.get("CHARGEHAND_VAR") or ROOT / "var").absolute()


def text(name: str, default: str | None, remedy: str) -> str:
    """Read a string; without a default it must be there."""
    value = os.environ.get(name) or default
    if value is None:
        refuse(name, "is missing", remedy)
    return value


def flag(name: str, default: bool) -> bool:
    """Read a yes-or-no."""
    value = os.environ.get(name)
    if not value:
        return default
    if value.lower() not in TRUE | FALSE:
        refuse(name, f"is {value!r}", "set it to true or false")
    return value.lower() in TRUE


def number(name: str, default: int, most: int) -> int:
    """Read a whole number above zero."""
    value = os.environ.get(name)
    if not value:
        return default
    whole = value.isascii() and value.isdecimal() and len(value) < 10
    if not whole or not 0 < int(value) <= most:
        refuse(name, f"is {value[:40]!r}", f"set it to a whole number from 1 to {most}")
    return int(value)


def words(name: str, default: list[str] | None, remedy: str) -> list[str]:
    """Read a comma-separated list; without a default it must hold something."""
    value = [word.strip() for word in os.environ.get(name, "").split(",") if word.strip()]
    if not value and default is None:
        refuse(name, "is missing", remedy)
    return value or default or []


def networks(name: str) -> list[IPv4Network | IPv6Network]:
    """Read a comma-separated list of addresses and networks; none where it is not set."""
    try:
        return [ip_network(word) for word in words(name, [], "")]
    except ValueError as error:
        refuse(name, f"cannot be read ({error})", "write it as 10.0.0.0/8, 192.0.2.7")


def sub_path(name: str) -> str:
    """Read the path under which the site stands; empty for the whole host."""
    value = os.environ.get(name, "")
    if value and not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+", value):
        refuse(name, f"is {value!r}", "write it as /chargehand, without a slash at its end")
    return value


def rate(name: str, default: str) -> Rate | None:
    """Read how many requests a time may hold; None for ``off``."""
    value = os.environ.get(name) or default
    try:
        return read_rate(value)
    except ValueError:
        refuse(name, f"is {value!r}", "write it as 600/min, 20/s or 1000/h, or off")


def secret_key(var: Path | None) -> str:
    """Return ``SECRET_KEY``; where ``var`` is given, a generated one is kept there instead."""
    remedy = "set it to a random string of at least 50 characters"
    value = os.environ.get("SECRET_KEY")
    if not value:
        if var is None:
            refuse("SECRET_KEY", "is missing", remedy)
        return kept_secret(var / "secret_key")
    if var is None and len(value) < 50:
        refuse("SECRET_KEY", f"has only {len(value)} characters", remedy)
    return value


def kept_secret(path: Path, size: int = 48) -> str:
    """Return the secret, of ``size`` random bytes, in a file that only its owner may read.

    One that cannot be read is never made again silently: what it protects would be lost with it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    if not path.exists():
        draft.touch(mode=0o600)
        with draft.open("w") as file:
            file.write(secrets.token_urlsafe(size))
            file.flush()
            # Else a power cut may leave the name without what it is to hold.
            os.fsync(file.fileno())
        # A link fails where a replace would win: two first starts agree on one secret.
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
    secret = path.read_bytes().decode("ascii", errors="replace").strip()
    if len(secret) < SHORTEST_SECRET or not secret.isprintable() or "\ufffd" in secret:
        raise SettingError(
            f"The file {path} holds no secret any more (a power cut or a full disk may empty it): "
            "put it back from a backup, or write a new random text of 50 characters into it; "
            "what the old one signed or opened is no longer valid then."
        )
    return secret


def database(url: str) -> dict[str, Any]:
    """Translate a PostgreSQL URL, as libpq reads it, into Django's words."""
    remedy = "write it as postgresql://user:password@host:5432/database"
    if not url.startswith(("postgres://", "postgresql://")):
        refuse("DATABASE_URL", "is not a PostgreSQL address", remedy)
    try:
        parts: dict[str, Any] = dict(conninfo_to_dict(url))
    except psycopg.ProgrammingError as error:
        refuse("DATABASE_URL", f"cannot be read ({str(error).strip()})", remedy)
    name = parts.pop("dbname", "")
    if not name and "service" not in parts:
        refuse("DATABASE_URL", "names no database", remedy)
    return {
        "NAME": name,
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        "OPTIONS": parts,
    }


def connection_options(given: Mapping[str, Any], freeze_ms: int) -> dict[str, Any]:
    """What DATABASE_URL says beside the server's address, merged with what every process needs."""
    try:
        return merged(given, freeze_ms)
    except Clash as clash:
        refuse("DATABASE_URL", str(clash), "leave that option out")


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in; TLS from the start, or by STARTTLS."""

    host: str
    port: int
    user: str
    password: str
    tls: bool
    starttls: bool


def mail(url: str) -> MailServer | None:
    """Read the address of a mail server; empty is none.

    ``smtp`` uses STARTTLS where it names a user, ``smtps`` TLS from the start.
    """
    if not url:
        return None
    remedy = "write it as smtp://user:password@host:587 or smtps://user:password@host:465"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        refuse("EMAIL_URL", "cannot be read", remedy)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        refuse("EMAIL_URL", "is not the address of a mail server", remedy)
    tls, user = parts.scheme == "smtps", unquote(parts.username or "")
    return MailServer(
        host=parts.hostname,
        port=port or (465 if tls else 587),
        user=user,
        password=unquote(parts.password or ""),
        tls=tls,
        starttls=bool(user) and not tls,
    )


def site(url: str) -> str:
    """Read the address under which people open the site; empty where it is not known."""
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        named = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        named = False
    if not named or "@" in url or any(each.isspace() for each in url):
        refuse("PUBLIC_URL", f"is {url!r}", "write it as https://desk.example.org")
    return url


def languages(catalogues: Path) -> list[str]:
    """The codes of the languages with a compiled catalogue in a folder of them, such as pt-br."""
    found = catalogues.glob("*/LC_MESSAGES/django.mo")
    return sorted(path.parts[-3].lower().replace("_", "-") for path in found)


def unreachable_database(error: Exception) -> str | None:
    """Say in one sentence that no database serves and what to do; None for any other error."""
    # It needs Django, which most readers of the environment do not load.
    from controlplane.postgresql.outages import is_away

    cause = error.__cause__
    if not is_away(cause):
        return None
    if isinstance(cause, psycopg.Error) and cause.sqlstate is not None:
        return f"The database cannot serve now: {str(cause).strip()}. Try again once it can."
    if os.environ.get("DATABASE_URL"):
        return f"The database of DATABASE_URL cannot be reached: {str(cause).strip()}"
    if "FATAL:" in str(cause):
        # The word of a server that runs, and has said why it refuses.
        return f"The embedded PostgreSQL takes no connection: {str(cause).strip()}"
    return (
        "The embedded PostgreSQL is not running: start it with `make up`, or set DATABASE_URL "
        "to a server of your own."
    )
