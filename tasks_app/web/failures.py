"""What a page answers where it could not be made."""

import sys
from typing import Final

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache

RETRY_SECONDS: Final = "5"


@never_cache
def server_error(request: HttpRequest) -> HttpResponse:
    """503 where the database is away or has no connection left, else 500; neither asks it again."""
    away = isinstance(sys.exc_info()[1], OperationalError | InterfaceError)
    status = 503 if away else 500
    if request.path.startswith("/api/"):
        detail = "the database cannot be used now" if away else "a fault of the server, see its log"
        response: HttpResponse = JsonResponse({"detail": detail}, status=status)
    else:
        # Without the request: who is logged in is for the database to say.
        again = request.method == "GET"
        text = render_to_string("failed.html", {"away": away, "again": again})
        response = HttpResponse(text, status=status)
    if away:
        response["Retry-After"] = RETRY_SECONDS
    return response
