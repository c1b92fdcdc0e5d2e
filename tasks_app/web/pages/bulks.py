"""Acts on many tasks: the list, one with its progress and result, undo and abort."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from tasks_app.services.actions import bulks as services
from tasks_app.services.masking.audit_masking import shown_bulks
from tasks_app.services.masking.payload_masking import hidden_from_user
from tasks_app.services.people.people import may_operate
from tasks_app.store.reads.actions import bulks as reads
from tasks_app.store.reads.actions.bulks import BulkRow
from tasks_app.web.acting import actor_of, back_to, operators_only
from tasks_app.web.filters import read_id


@require_safe
@never_cache
def bulks(request: HttpRequest) -> HttpResponse:
    """Show the latest acts on many tasks."""
    rows, older = reads.list_bulks(read_id(request.GET, "before"))
    rows = _shown(request, rows)
    context = {"rows": rows, "older": older}
    part = "list" if request.headers.get("HX-Request") else "bulks"
    return render(request, f"bulks/{part}.html", context)


@require_safe
@never_cache
def bulk(request: HttpRequest, bulk_id: UUID) -> HttpResponse:
    """Show one with its progress and what became of each task."""
    found = bulk_or_404(bulk_id)
    only_refused = "refused" in request.GET
    after = request.GET.get("after", "")
    place = int(after) if after.isascii() and after.isdigit() and len(after) < 9 else -1
    items, more = reads.list_items(bulk_id, place, refused=only_refused)
    context = {
        "bulk": _shown(request, [found])[0],
        "waves": reads.read_waves(found) if found.canary else (),
        "items": items,
        "more": more,
        "only_refused": only_refused,
        "refused_counted": reads.REFUSED,
        "refusals": reads.count_refusals(bulk_id) if found.refused else (),
        "may_operate": may_operate(request.user),
    }
    part = "live" if request.headers.get("HX-Request") else "bulk"
    return render(request, f"bulks/{part}.html", context)


def _shown(request: HttpRequest, rows: Sequence[BulkRow]) -> list[BulkRow]:
    """Bulk actions as this person may see them; one on ticked tasks has no query to hide."""
    queried = any(row.wanted for row in rows)
    return shown_bulks(rows, hidden_from_user(request.user) if queried else {})


def bulk_or_404(bulk_id: UUID) -> BulkRow:
    """Read one. Raises Http404."""
    found = reads.find_bulk(bulk_id)
    if found is None:
        raise Http404(_("There is no act on many tasks %(id)s.") % {"id": bulk_id})
    return found


@require_POST
@operators_only
def undo(request: HttpRequest, bulk_id: UUID) -> HttpResponse:
    """Take a held one back."""
    found = bulk_or_404(bulk_id)
    if services.undo(bulk_id, actor_of(request)):
        undone = _("Undone: none of the %(count)s tasks was touched.")
        messages.success(request, undone % {"count": f"{found.total:,}"})
        return redirect(back_to(request, reverse("web:bulk", args=[bulk_id])))
    messages.warning(request, _("Too late to undo: it has begun, or has ended."))
    return redirect("web:bulk", bulk_id)


@require_POST
@operators_only
def abort(request: HttpRequest, bulk_id: UUID) -> HttpResponse:
    """Stop one after the batch that is under way."""
    bulk_or_404(bulk_id)
    if services.abort(bulk_id, actor_of(request)):
        left = bulk_or_404(bulk_id).left
        aborted = ngettext(
            "Aborted: %(count)s task stays as it is.",
            "Aborted: %(count)s tasks stay as they are.",
            left,
        )
        messages.success(request, aborted % {"count": f"{left:,}"})
    else:
        messages.warning(request, _("It has ended already."))
    return redirect("web:bulk", bulk_id)
