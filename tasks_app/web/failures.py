"""What a page answers where it could not be made."""

import sys
from typing import Final

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache

from tasks_app.web.kept import kept_of

RETRY_SECONDS: Final = "5"


@never_cache
def server_error(request: HttpRequest) -> HttpResponse:
    """503 where the database is away or has no connection left, else 500; neither asks it again."""
    away = isinstance(sys.exc_info()[1], OperationalError | InterfaceError)
    # Without the request: who is logged in is for the database to say.
    context = {"away": away, "again": request.method == "GET", "kept": kept_of(request)}
    text = render_to_string("failed.html", context)
    response = HttpResponse(text, status=503 if away else 500)
    if away:
        response["Retry-After"] = RETRY_SECONDS
    return response
