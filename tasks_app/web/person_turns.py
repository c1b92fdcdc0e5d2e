"""One person, or one token, cannot take all that a web process has: their requests take turns."""

import hashlib
from collections.abc import Callable
from typing import Any, Final

from django.db import close_old_connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from tasks_app.core.words import say
from tasks_app.services.people.request_limits import TooManyRequests
from tasks_app.services.people.turns import Turns
from tasks_app.web.too_many import refusal

AT_ONCE: Final = 4
"""Requests of one person that are answered at a time; the pool has ten connections."""

WAITING: Final = 24
LONGEST_WAIT: Final = 10.0
RETRY_SECONDS: Final = 5.0

turns: Final = Turns(AT_ONCE, WAITING, LONGEST_WAIT)

HELD: Final = "_turn_of"


class PersonTurns:
    """Stands behind the log-in: who asks is known, and strangers have been sent away."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, then end the turn that the request has taken."""
        try:
            return self._get_response(request)
        finally:
            subject = getattr(request, HELD, None)
            if subject is not None:
                turns.give(subject)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponseBase | None:
        """Take a turn; whoever has too many under way waits for one without a connection."""
        subject = _subject(request, view)
        if subject is None:
            return None
        if not turns.take(subject, may_wait=False):
            close_old_connections()
            if not turns.take(subject):
                return refusal(request, _too_many())
        setattr(request, HELD, subject)
        return None


def _subject(request: HttpRequest, view: Any) -> str | None:
    """Whose turn it is; None for strangers, whose pages and probes are short."""
    sent = request.headers.get("Authorization")
    if sent is not None:
        return hashlib.sha256(sent.encode(errors="replace")).hexdigest()
    if getattr(view, "login_required", True) and request.user.is_authenticated:
        return f"person {request.user.pk}"
    return None


def _too_many() -> TooManyRequests:
    return TooManyRequests(
        say(
            "%(most)s requests of yours are being answered and others wait. Nothing was done.",
            most=AT_ONCE,
        ),
        RETRY_SECONDS,
    )
