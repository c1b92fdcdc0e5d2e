"""What no page can mean anything by, refused before any page sees it: NUL, surrogates, sizes."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import HttpRequest, parse_cookie
from django.http.response import HttpResponseBase

FORMS: Final = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


class Malformed:
    """Answers 400 to a request whose path, query, cookies or form hold what no text may hold.

    PostgreSQL stores no NUL and UTF-8 has no lone surrogate: each page that passes one on to the
    database would answer 500.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on. Raises SuspiciousOperation, which Django answers with 400."""
        if request.path_info.startswith("/api/"):
            # It reads each value itself, and names the fault.
            return self._get_response(request)
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdecimal() and int(length[:20]) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise RequestDataTooBig("the body is larger than any form of this site")
        form = request.POST.lists() if request.content_type in FORMS else ()
        texts = (request.path_info, *_of(request.GET.lists()), *_of(request.COOKIES.items()))
        if not all(map(storable, (*texts, *_of(form)))):
            raise SuspiciousOperation("a text of the request cannot be stored")
        return self._get_response(request)


def storable(text: str) -> bool:
    """Whether a text can be sent to the database.

    >>> [storable(text) for text in ("é", "a\\x00b", "\\ud800")]
    [True, False, False]
    """
    return _UNSTORABLE.search(text) is None


def storable_cookies(scope: Any) -> bool:
    """Whether the cookies of a websocket can be sent to the database.

    >>> storable_cookies({"headers": [(b"cookie", b'sessionid="a\\000"')]})
    False
    """
    sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"]
    return all(storable(value) for each in sent for value in parse_cookie(each).values())


def _of(pairs: Iterable[tuple[str, object]]) -> Iterable[str]:
    for name, value in pairs:
        yield name
        yield from value if isinstance(value, list) else (str(value),)
