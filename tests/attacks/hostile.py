"""What a hostile client sends in the place of each value, and where a page says it takes one."""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Final
from urllib.parse import parse_qs, urlsplit

from controlplane.environment import ROOT

VALUES: Final = (
    "\x00",
    "a\x00b",
    "\ud800",
    "\uffff\u202e",
    "x" * 5_000,
    str(10**30),
    f"-{10**30}",
    str(2**63),
    "1e999",
    "NaN",
    "²",
    "٣",
    "[]",
    "{}",
    '{"a": [[[[',
    "' OR 1=1 --",
    "../../etc/passwd",
    "%00",
    "\r\nSet-Cookie: a=b",
    "2026-13-45T99:99",
    "00000000-0000-0000-0000-000000000000",
    "9999-12-31T23:59:59+23:59",
    "0001-01-01T00:00:00-23:59",
)
"""In a query or a form."""

PARTS: Final = (
    "%00",
    "a%00b",
    "%ED%A0%80",
    "%FF%FE",
    "x" * 3_000,
    str(10**30),
    str(2**63),
    f"-{2**63}",
    "_00",
    "_0g",
    "%E2%80%AE",
    "%0d%0aA:%20b",
    "%25%30%30",
    "1%00",
)
"""In a path."""

HEADERS: Final = (
    "\x00",
    "a\x00b",
    "\xff\xfe",
    "x" * 70_000,
    str(10**30),
    ",;=\"'\\",
    "{}",
    'W/"',
    "text/html;q=NaN",
    "en-" + "a" * 5_000,
)
"""In a header or a cookie."""

HEADER_NAMES: Final = (
    "Accept",
    "Accept-Encoding",
    "Accept-Language",
    "Authorization",
    "Content-Length",
    "Content-Type",
    "Forwarded",
    "Host",
    "HX-Current-URL",
    "HX-Prompt",
    "HX-Request",
    "HX-Target",
    "HX-Trigger",
    "If-Match",
    "If-Modified-Since",
    "If-None-Match",
    "Origin",
    "Range",
    "Referer",
    "User-Agent",
    "X-CSRFToken",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Requested-With",
)

COOKIES: Final = ("sessionid", "csrftoken", "messages", "django_language", "other")

BODIES: Final = (
    ("application/x-www-form-urlencoded", b"\xff\xfe=\xff"),
    ("application/x-www-form-urlencoded; charset=bogus", b"a=b"),
    ("application/x-www-form-urlencoded; charset=utf-16", b"a=b"),
    ("application/x-www-form-urlencoded", b"&".join(b"a%d=1" % n for n in range(2_000))),
    ("multipart/form-data", b"--x\r\n"),
    ("multipart/form-data; boundary=", b"--x\r\n"),
    ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="a\r\n'),
    ("multipart/form-data; boundary=x; charset=bogus", b"--x\r\nContent-Disposition: form-data"),
    ("multipart/form-data; boundary=\xff", b"--\xff\r\n"),
    ("application/json", b'{"a": '),
    ("application/json", b"\xff\xfe"),
    ("application/json", b'{"a": "\\ud800", "b": "\\u0000", "c": 1e999}'),
    ("application/json", b"[" * 100_000),
    ("application/json; charset=bogus", b"{}"),
    ("text/xml", b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>"),
    ("", b"a=b"),
)

_READ: Final = re.compile(r"(?:GET|POST|query|form|data|values)\.(?:get|getlist)\(\s*\"([\w-]+)\"")
_TAKEN: Final = re.compile(r"\"([\w-]+)\" (?:not )?in request\.(?:GET|POST)")
_NAMED: Final = re.compile(r"\bname=\"([^\"{]+)\"")
_LINKED: Final = re.compile(r"(?:href|hx-get|action)=\"([^\"]+)\"")

OF_THE_ADMIN: Final = (
    *("q", "o", "p", "all", "e", "_facets", "_popup", "_to_field", "_changelist_filters", "action"),
    *(
        "_selected_action",
        "index",
        "select_across",
        "next",
        "app_label",
        "model_name",
        "field_name",
    ),
    *("term", "post", "_save", "_preview", "_reason"),
)


def names_in_sources() -> frozenset[str]:
    """The parameters that the faces' code reads by name."""
    found: set[str] = set()
    for face in ("web", "admin", "api"):
        for path in (ROOT / "tasks_app" / face).rglob("*.py"):
            text = path.read_text()
            found.update(_READ.findall(text), _TAKEN.findall(text))
    return frozenset(found)


def names_on(page: str) -> frozenset[str]:
    """The parameters that a page offers: its fields, and those in its links."""
    found = set(_NAMED.findall(page))
    for link in _LINKED.findall(page):
        found.update(parse_qs(urlsplit(unescape(link)).query, keep_blank_values=True))
    return frozenset(found)


def without(names: Iterable[str], *left_out: str) -> Iterator[str]:
    """The names in their order, but those."""
    return (name for name in sorted(names) if name not in left_out)
