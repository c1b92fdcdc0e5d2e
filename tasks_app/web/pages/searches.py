"""Saved searches: the list of them, saving, pinning, deleting."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from tasks_app.services.people.people import may_administer, may_operate
from tasks_app.services.search import saved_searches as services
from tasks_app.services.search.found_searches import searches_of
from tasks_app.services.search.saved_searches import LONGEST_NAME, NewSearch
from tasks_app.web.acting import actor_of, back_to
from tasks_app.web.filters import read_text
from tasks_app.web.task_address import ListAddress


def _user(request: HttpRequest) -> int:
    assert request.user.pk is not None, "nobody gets here without a login"
    return request.user.pk


@require_safe
@never_cache
def searches(request: HttpRequest) -> HttpResponse:
    """Show one's own searches and the shared ones."""
    context = {
        "searches": searches_of(request.user),
        "me": _user(request),
        "may_administer": may_administer(request.user),
    }
    return render(request, "tasks/searches.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def save(request: HttpRequest) -> HttpResponse:
    """Ask for a name (GET), or keep the search (POST)."""
    address = ListAddress.read(request.POST if request.method == "POST" else request.GET)
    fault = ""
    if request.method == "POST":
        wanted = NewSearch(
            name=read_text(request.POST, "name"),
            query=address.text,
            address=address.view(),
            shared="shared" in request.POST,
            pinned="pinned" in request.POST,
        )
        try:
            services.save_search(wanted, _user(request), actor_of(request))
        except ValueError as error:
            fault = str(error)
        else:
            messages.success(request, _("Saved as %(name)s.") % {"name": wanted.name})
            return redirect(reverse("web:tasks") + address.link())
    context: dict[str, Any] = {
        "address": address,
        "fault": fault,
        "name": read_text(request.POST, "name"),
        "longest": LONGEST_NAME,
        "may_share": may_operate(request.user),
        "next": reverse("web:tasks") + address.link(),
    }
    part = "save_form" if request.headers.get("HX-Request") else "save"
    return render(request, f"tasks/{part}.html", context, status=422 if fault else 200)


@require_POST
def pin(request: HttpRequest, search_id: int) -> HttpResponse:
    """Put a search into one's side bar."""
    services.pin_search(search_id, _user(request), actor_of(request), pinned=True)
    return redirect(back_to(request, reverse("web:searches")))


@require_POST
def unpin(request: HttpRequest, search_id: int) -> HttpResponse:
    """Take a search out of one's side bar."""
    services.pin_search(search_id, _user(request), actor_of(request), pinned=False)
    return redirect(back_to(request, reverse("web:searches")))


@require_POST
def delete(request: HttpRequest, search_id: int) -> HttpResponse:
    """Delete a search."""
    name = services.delete_search(search_id, _user(request), actor_of(request))
    if name is None:
        raise Http404(_("There is no search %(id)s that you may see.") % {"id": search_id})
    messages.success(request, _("%(name)s is deleted.") % {"name": name})
    return redirect("web:searches")
