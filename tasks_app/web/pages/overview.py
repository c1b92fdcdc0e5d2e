"""The overview: what is wrong, six figures, three charts, dead letters by cause, the workers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Show the page."""
    return render(request, "overview/overview.html")
