"""Who may use the API: programs with a token. A cookie is never looked at, so no CSRF exists."""

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe
from ninja.errors import HttpError, Throttled
from ninja.security import HttpBearer

from tasks_app.core.people.scopes import Scope
from tasks_app.services.people.people import Actor
from tasks_app.services.people.request_limits import TooManyRequests, count_refusal, count_request
from tasks_app.services.people.tokens import Program, verify


class LimitReached(Throttled):
    """429: the token, or the address that sends wrong ones, has asked too often."""

    def __init__(self, limit: TooManyRequests) -> None:
        super().__init__(max(1, math.ceil(limit.wait)))
        self.message = str(limit)


def headers_of(error: HttpError) -> dict[str, str]:
    """What a refusal says in its headers: after how many seconds to come back."""
    return {"Retry-After": str(error.wait)} if isinstance(error, LimitReached) else {}


class ProgramToken(HttpBearer):
    """``Authorization: Bearer chg_...``, as ``manage.py token create`` made it, with a scope.

    Where an operation names no scope, whatever is safe needs the one to look, and the rest the one
    to operate: a new operation is never open by oversight.
    """

    def __init__(self, scope: Scope | None = None) -> None:
        super().__init__()
        self.scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> Program | None:
        """The program, or None for 401.

        Raises HttpError: 403 when its token lacks the scope, 429 when it has asked too often.
        """
        program = verify(token.strip())
        try:
            if program is None:
                count_refusal(address_of(request))
            else:
                count_request(program)
        except TooManyRequests as limit:
            raise LimitReached(limit) from limit
        if program is not None:
            safe = request.method in ("GET", "HEAD", "OPTIONS")
            needed = self.scope or (Scope.READ if safe else Scope.OPERATE)
            if not program.may(needed):
                raise HttpError(403, f"the token of {program} lacks the scope {needed}")
        return program


def program_of(request: HttpRequest) -> Program:
    """The program whose token let this request in."""
    program = getattr(request, "auth", None)
    assert isinstance(program, Program), "only ProgramToken lets a request in"
    return program


def actor_of(request: HttpRequest) -> Actor:
    """The program behind a request, for permission and audit."""
    return program_of(request).actor(address_of(request))


def address_of(request: HttpRequest) -> str:
    """Where a request comes from, behind the proxies that are trusted."""
    return str(request.META.get("REMOTE_ADDR", ""))


def docs_for_known(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Show the API's documentation to people logged in and to programs with a token."""

    @login_not_required
    @require_safe
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            if request.user.is_authenticated or ProgramToken(Scope.READ)(request):
                return view(request, *args, **kwargs)
        except HttpError as refused:
            answer = {"detail": refused.message}
            return JsonResponse(answer, status=refused.status_code, headers=headers_of(refused))
        return redirect_to_login(request.get_full_path())

    return wrapped
