"""The kinds' names, for filters."""

from tasks_app.models import Kind


def list_kind_names() -> list[str]:
    """Every kind by name."""
    return list(Kind.objects.order_by("name").values_list("name", flat=True))
