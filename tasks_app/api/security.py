"""Who may use the API: programs with a token. A cookie is never looked at, so no CSRF exists."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja.security import HttpBearer

from tasks_app.services.tokens import verify


class ProgramToken(HttpBearer):
    """``Authorization: Bearer chg_...``, as ``manage.py token create`` made it."""

    def authenticate(self, request: HttpRequest, token: str) -> str | None:
        """The token's name, or None for 401."""
        return verify(token.strip())


program_token = ProgramToken()


def docs_for_known(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Show the API's documentation to people logged in and to programs with a token."""

    @login_not_required
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated or program_token(request):
            return view(request, *args, **kwargs)
        return redirect_to_login(request.get_full_path())

    return wrapped
