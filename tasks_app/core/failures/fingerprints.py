"""The fingerprint of an error: what stays the same when the same thing goes wrong once more."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.failures.tracebacks import is_app_path
from tasks_app.core.states import DeadReason

LONGEST_LINE: Final = 300
LONGEST_FRAME: Final = 200
LENGTH: Final = 16
"""Hexadecimal digits: 64 bits tell many more errors apart than a record ever holds."""

UNMARKED: Final = "none"
"""What stands for a fingerprint where there is none: rows that the store did not write."""

BY_ERROR: Final = frozenset({DeadReason.PERMANENT, DeadReason.EXHAUSTED})
"""Where the last error is the cause. Elsewhere the reason is, whatever error an attempt left."""

_VARIES: Final = (
    (re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://\S+", re.IGNORECASE), "<url>"),
    # Begun at the beginning of a word alone: else each letter of a long one is tried.
    (re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]+\.[\w.-]+"), "<email>"),
    (re.compile(r"(?<![\w.])[a-z]:\\\S+", re.IGNORECASE), "<path>"),
    (re.compile(r"(?<![\w<])(?:\.{1,2}|~)?(?:/[\w.@+-]+){2,}/?"), "<path>"),
    (
        re.compile(r"(?<!\w)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)", re.IGNORECASE),
        "<id>",
    ),
    (re.compile(r"(?<!\w)0x[0-9a-f]+(?!\w)", re.IGNORECASE), "#"),
    # A hexadecimal id may happen to be all figures: both leave the same sign.
    (re.compile(r"(?<!\w)(?=[a-f]*[0-9])[0-9a-f]{8,}(?!\w)", re.IGNORECASE), "#"),
    (re.compile(r"[0-9]+"), "#"),
    (re.compile(r"#(?:[.,:]#)+"), "#"),
)
_FRAME: Final = re.compile(r'^[\s|+-]*File "([^"\n]+)", line [0-9]+, in ([^\n]+)$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a group of dead letters has in common; ``key`` is the digest of the rest.

    ``name`` is the error's class or, where no error is the cause, the reason; ``line`` the first
    of its message without what varies; ``frame`` the innermost of the application's own.
    """

    key: str
    name: str
    line: str = ""
    frame: str = ""


def fingerprint_of(error: Mapping[str, Any] | None, reason: str) -> Fingerprint:
    """The fingerprint of a death from its error, as stored, and its reason; it never raises.

    >>> twice = [{"type": "KeyError", "message": f"no ticket {n}"} for n in (4711, 4712)]
    >>> first, second = (fingerprint_of(error, "permanent") for error in twice)
    >>> first == second, first.line
    (True, 'no ticket #')
    """
    if reason not in BY_ERROR or not error or not error.get("type"):
        return _made(str(reason))
    message = str(error.get("message") or "").partition("\n")[0]
    frame = app_frame(str(error.get("traceback") or ""))
    return _made(str(error["type"]), normalise(message), frame)


def key_of(error: str | None, reason: str | None) -> str | None:
    """The key from an error's JSON text and the reason; None where there is no reason: no death."""
    if reason is None:
        return None
    return fingerprint_of(None if error is None else json.loads(error), reason).key


def _made(name: str, line: str = "", frame: str = "") -> Fingerprint:
    said = "\n".join((name, line, frame)).encode("utf-8", "replace")
    return Fingerprint(hashlib.sha256(said).hexdigest()[:LENGTH], name, line, frame)


def normalise(line: str) -> str:
    """A line without what varies: addresses, paths, ids, hexadecimal and other figures.

    >>> normalise("worker-7: /srv/app/x.py took 12.5 s at 0x7f3a, see https://example.org/a?b=1")
    'worker-#: <path> took # s at #, see <url>'
    """
    # Cut first, so that a line of a megabyte costs no more; once more, for a sign may be longer.
    found = line[: 2 * LONGEST_LINE]
    for pattern, sign in _VARIES:
        found = pattern.sub(sign, found)
    return " ".join(found.split())[:LONGEST_LINE]


def app_frame(traceback: str) -> str:
    r"""The innermost frame of the application's own code, as ``folder/file.py:function``, or "".

    >>> app_frame('File "/srv/shop/mail.py", line 7, in send\n  x()\n'
    ...           'File "/venv/lib/python3.11/site-packages/httpx.py", line 9, in post')
    'shop/mail.py:send'
    """
    found = ""
    for path, function in _FRAME.findall(traceback):
        if is_app_path(path):
            found = f"{'/'.join(path.replace(chr(92), '/').split('/')[-2:])}:{function.strip()}"
    return re.sub("[0-9]+", "#", found)[:LONGEST_FRAME]
