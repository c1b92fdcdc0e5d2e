"""Bodies from outside: bounded before they are read, strict JSON while they are."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from ninja.parser import Parser

from tasks_app.core.strict_json import JsonRefused, read_strict

MOST_VALUES: Final = 2_000_000
"""Values in one body: nested empty lists of 32 MiB would take a gigabyte once they are read."""

View = Callable[..., HttpResponseBase]


class BodyRefused(ValueError):
    """The body is no JSON that is read here; its message says why."""


class StrictJson(Parser):
    """Reads a body as RFC 8259 and I-JSON have it: no NaN, no key twice, no depth without end."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The value; raises BodyRefused."""
        return read_json(request.body)


def read_json(body: bytes) -> Any:
    """Read strict JSON. Raises BodyRefused.

    >>> read_json(b'{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    """
    if body.count(b",") + body.count(b"[") + body.count(b"{") > MOST_VALUES:
        raise BodyRefused(f"more than {MOST_VALUES:,} values; send fewer tasks at once")
    try:
        return read_strict(body)
    except JsonRefused as refused:
        raise BodyRefused(refused.told) from refused


def bounded(view: View) -> View:
    """Refuse a body by its headers, before a byte of it is held in memory.

    Django compares the announced length alone, and counts a body that announces none as empty
    and then reads all of it.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        length = request.META.get("CONTENT_LENGTH") or ""
        if not length:
            return _refusal(411, "send the body with its Content-Length")
        if request.content_type != "application/json":
            return _refusal(415, "send JSON, with Content-Type: application/json")
        if not (length.isascii() and length.isdecimal()):
            return _refusal(400, "Content-Length is no number")
        if len(length) > 15 or int(length) > most:
            return _refusal(413, f"a body has at most {most:,} bytes; send fewer tasks at once")
        return view(request, *args, **kwargs)

    return wrapped


def _refusal(status: int, detail: str) -> JsonResponse:
    return JsonResponse({"detail": detail}, status=status)
