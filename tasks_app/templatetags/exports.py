"""The links to a list as a file."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django import template
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

register = template.Library()

FORMATS: Final = ("csv", "json")
PARTS: Final[Mapping[str, Promise]] = {
    "errors": _("errors"),
    "ended": _("ended"),
    "near misses": _("near misses"),
    "late reports": _("late reports"),
}
"""The lists of a page that has several."""


@register.inclusion_tag("partials/exports.html")
def exports(name: str, *args: Any, query: str = "", part: str = "") -> dict[str, object]:
    """Offer a list as CSV and JSON lines; ``query`` is its filter, ``part`` which list of a page.

    ``name`` is the page's, as in ``tasks_app.web.urls``.
    """
    address = reverse(f"web:{name}", args=args)
    rest = query.lstrip("?")
    links: Sequence[tuple[str, str, str]] = [
        (
            "-".join(filter(None, ("export", slugify(part), form))),
            form.upper(),
            f"{address}?{rest}{'&' if rest else ''}format={form}",
        )
        for form in FORMATS
    ]
    return {"links": links, "part": PARTS[part] if part else ""}
