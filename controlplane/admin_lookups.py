"""What the address of a list in the admin may filter by: what the page itself offers."""

from typing import Any, Final

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.contrib.admin.utils import get_fields_from_path
from django.http import HttpRequest

ENDS: Final = frozenset({"exact", "in", "isnull", "gte", "gt", "lte", "lt", "year", "month", "day"})
"""How a filter of a page ends; none of them tells a value character by character of a text."""


class ShownLookups:
    """Mixed into every class that is registered: other look-ups are refused with 400.

    Django lets an address look any field of a model up, a secret or a digest by its beginning too.
    """

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Whether a filter that the page shows asks so."""
        assert isinstance(self, ModelAdmin), "it is mixed into classes of the admin alone"
        offered = [self.date_hierarchy, *self.get_list_filter(request)]
        return any(_asks(self, lookup, each) for each in offered if each is not None)


def _asks(page: "ModelAdmin[Any]", lookup: str, offered: Any) -> bool:
    if isinstance(offered, type) and issubclass(offered, SimpleListFilter):
        return lookup == offered.parameter_name
    path = offered[0] if isinstance(offered, list | tuple) else offered
    if lookup != path and not lookup.startswith(f"{path}__"):
        return False
    ends = lookup.removeprefix(path).split("__")[1:]
    field = get_fields_from_path(page.model, path)[-1]
    if ends and field.is_relation and field.related_model is not None:
        # A filter of a relation names the key that it goes by.
        key = field.related_model._meta.pk.name
        ends = ends[1:] if ends[0] == key else ends
    return ENDS.issuperset(ends)
