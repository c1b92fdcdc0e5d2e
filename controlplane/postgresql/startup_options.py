"""Options of a connection: DATABASE_URL's merged with ours, and what a pooler made of them."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import psycopg

log = logging.getLogger(__name__)

OURS: Final[Mapping[str, Any]] = {
    # A dead network is noticed well before a lease ends; a Unix socket ignores the last four.
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""Where DATABASE_URL says nothing else."""

FREEZE: Final = "idle_in_transaction_session_timeout"
CLIENT_CHECK: Final = "client_connection_check_interval"
CLIENT_CHECK_MS: Final = 1000

_UNITS: Final[Mapping[str, float]] = {
    "us": 0.001,
    "ms": 1.0,
    "": 1.0,
    "s": 1_000.0,
    "min": 60_000.0,
    "h": 3_600_000.0,
    "d": 86_400_000.0,
}
_OPTION: Final = re.compile(r"(?:-c\s*|--)([A-Za-z_][\w.-]*)=((?:\\.|\S)*)", re.DOTALL)
_TIME: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(us|ms|s|min|h|d|)\s*")

LOOK: Final = """
SELECT name, current_setting(name), source FROM pg_settings WHERE name = ANY(%s)
"""


class Clash(ValueError):
    """An option of DATABASE_URL by which work would be lost; the message says what it may be."""


def merged(given: Mapping[str, Any], freeze_ms: int) -> dict[str, Any]:
    """The connection's parameters: ours, unless the address has its own. Raises Clash.

    ``freeze_ms``: a leader that froze inside a transaction is cut off by then.

    >>> merged({"connect_timeout": "30"}, 5000)["connect_timeout"]
    '30'
    """
    theirs = str(given.get("options", "")).strip()
    named = read_options(theirs)
    if FREEZE in named and not 0 < (milliseconds(named[FREEZE]) or 0) <= freeze_ms:
        raise Clash(
            f"sets {FREEZE} to {named[FREEZE]!r}, but a leader that froze must lose its transaction"
            f" within {freeze_ms} ms"
        )
    encoding = str(given.get("client_encoding", "utf8"))
    if encoding.lower().replace("-", "") not in ("utf8", "auto", "unicode"):
        raise Clash(f"sets client_encoding to {encoding!r}, but everything is read as UTF-8")
    ours = f"-c {FREEZE}={freeze_ms} -c {CLIENT_CHECK}={CLIENT_CHECK_MS}"
    # Of two settings of one name the server takes the last.
    return {**OURS, **given, "options": f"{ours} {theirs}".strip()}


def read_options(options: str) -> dict[str, str]:
    r"""The settings that ``options`` makes, by name in lower case.

    >>> read_options(r"-c geqo=off -csearch_path=a\ b --work-mem=4MB -d 3")
    {'geqo': 'off', 'search_path': 'a b', 'work_mem': '4MB'}
    """
    return {
        name.lower().replace("-", "_"): re.sub(r"\\(.)", r"\1", value)
        for name, value in _OPTION.findall(options)
    }


def milliseconds(text: str) -> float | None:
    """A time as PostgreSQL writes it, without a unit in milliseconds; None for what is none.

    >>> milliseconds("5s"), milliseconds("5000"), milliseconds("soon")
    (5000.0, 5000.0, None)
    """
    found = _TIME.fullmatch(text)
    return float(found[1]) * _UNITS[found[2]] if found else None


def slower(given: Mapping[str, Any]) -> list[str]:
    """Parameters with which a dead network is noticed later than with ours, each in words."""
    return [
        f"{name}={given[name]} (ours would be {least})"
        for name, least in OURS.items()
        if name != "connect_timeout" and name in given and not _is_within(given[name], least)
    ]


def _is_within(value: Any, most: int) -> bool:
    text = str(value)
    return text.isdecimal() and 0 < int(text) <= most


def dropped(connection: "psycopg.Connection[Any]", options: str) -> Sequence[str]:
    """Which of the options the server does not have, each as it should be.

    One that the role or the database sets to the same value is no loss: it is how a pooler is
    told of it.
    """
    wanted = read_options(options)
    found = {name: rest for name, *rest in connection.execute(LOOK, [list(wanted)]).fetchall()}
    return [f"{name}={value}" for name, value in wanted.items() if _lost(value, found.get(name))]


def _lost(wanted: str, found: Iterable[str] | None) -> bool:
    if found is None:
        return True
    value, source = found
    if source in ("client", "session") or value == wanted:
        return False
    return milliseconds(value) is None or milliseconds(value) != milliseconds(wanted)


class Looker:
    """Looks once a process at what became of the options, and says what is wrong with them."""

    def __init__(self) -> None:
        self._looked = False

    def look(self, connection: "psycopg.Connection[Any]", params: Mapping[str, Any]) -> None:
        """Say in the log what a pooler dropped, and what is slower than it should be."""
        if self._looked:
            return
        lost = dropped(connection, str(params.get("options", "")))
        self._looked = True
        late = slower(params)
        if late:
            log.warning("DATABASE_URL has a dead network noticed late: %s", ", ".join(late))
        if lost:
            log.error(LOST, ", ".join(lost))


LOST: Final = (
    "The database does not have these settings of the connection: %s. A pooler such as PgBouncer "
    "dropped them (ignore_startup_parameters). Set them with ALTER ROLE ... SET, or connect to the "
    "server itself."
)
