"""What a request gets that is refused before any page sees it."""

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from tasks_app.web.kept import kept_of

WRONG_HOST = (
    "This site does not answer under the host name of this request. "
    "Whoever runs it adds a name to the setting ALLOWED_HOSTS."
)
MALFORMED = "The request is malformed, or larger than is accepted."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400 in a sentence, as JSON under ``/api/``; nothing of the request is repeated."""
    detail = WRONG_HOST if isinstance(exception, DisallowedHost) else MALFORMED
    if request.path_info.startswith("/api/"):
        return JsonResponse({"detail": detail}, status=400)
    return HttpResponse(f"{detail}\n", status=400, content_type="text/plain; charset=utf-8")


def no_token(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form without its site's token; ``reason`` is in the log, and says too much here."""
    return render(request, "403_csrf.html", {"kept": kept_of(request)}, status=403)
