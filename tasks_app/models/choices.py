"""Choice lists for forms and constraints, made from the enums of core."""

from collections.abc import Iterable
from enum import StrEnum

from django.db.models import Q


def choices(enum: type[StrEnum]) -> list[tuple[str, str]]:
    """Pairs of value and readable label: ``least_loaded`` reads "Least loaded"."""
    return [(member.value, member.value.replace("_", " ").capitalize()) for member in enum]


def one_of(field: str, members: Iterable[StrEnum]) -> Q:
    """The condition of a CHECK constraint: the field holds one of the members' values."""
    return Q(**{f"{field}__in": sorted(member.value for member in members)})
