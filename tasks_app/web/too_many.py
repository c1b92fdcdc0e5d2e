"""What a page answers where somebody asks too often: when to come back, and nothing done."""

import math
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import add_never_cache_headers

from tasks_app.services.people.request_limits import TooManyRequests
from tasks_app.translation import translated
from tasks_app.web.kept import kept_of


class TooMany:
    """Answers for every page, the admin's too, whose view raised ``TooManyRequests``."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on."""
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The refusal as a page; other errors are not for here."""
        return refusal(request, error) if isinstance(error, TooManyRequests) else None


def refusal(request: HttpRequest, limit: TooManyRequests) -> HttpResponse:
    """Say what was not done and when to come back, without a question to the database."""
    wait, said = max(1, math.ceil(limit.wait)), translated(str(limit))
    response: HttpResponse
    if request.path_info.startswith("/api/"):
        response = JsonResponse({"detail": said}, status=limit.status)
    else:
        text = render_to_string(
            "too_many.html", {"said": said, "wait": wait, "kept": kept_of(request)}
        )
        response = HttpResponse(text, status=limit.status)
    response["Retry-After"] = str(wait)
    add_never_cache_headers(response)
    return response


def locked_out(
    request: HttpRequest, answer: HttpResponse | None = None, credentials: Any = None
) -> HttpResponse:
    """What a log-in gets whose name is locked for its network."""
    context = {"failure_limit": settings.AXES_FAILURE_LIMIT}
    response = render(request, "locked_out.html", context, status=429)
    response["Retry-After"] = str(int(settings.AXES_COOLOFF_TIME.total_seconds()))
    return response
