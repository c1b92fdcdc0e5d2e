"""The kinds' names, and what searching their tasks needs to know."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks_app.core.masking.redaction import Hidden, folded
from tasks_app.models import Kind


def list_kind_names() -> list[str]:
    """Every kind by name."""
    return list(Kind.objects.order_by("name").values_list("name", flat=True))


@dataclass(frozen=True, slots=True)
class KindSearch:
    """A kind, its payload paths that have an index, and its keys that only some may see."""

    name: str
    paths: Sequence[str]
    redacted: frozenset[str]


def list_kind_searches() -> list[KindSearch]:
    """Every kind by name, as a search needs it."""
    found = Kind.objects.order_by("name").values_list("name", "searchable_paths", "redacted_keys")
    return [KindSearch(name, tuple(paths), folded(keys)) for name, paths, keys in found]


def all_hidden() -> Hidden:
    """By kind, the keys whose values only some may see."""
    return {kind.name: kind.redacted for kind in list_kind_searches() if kind.redacted}


def kinds_without_strategy() -> list[str]:
    """The kinds that follow the supervisor's default strategy."""
    return list(Kind.objects.filter(strategy="").order_by("name").values_list("name", flat=True))
