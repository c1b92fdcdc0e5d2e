"""The rights that a group may have: permissions that are no role's by themselves."""

from typing import Final

from django.contrib.auth.models import Permission
from django.db.models import Q, QuerySet

DJANGOS_VERBS: Final = ("add", "change", "delete", "view")


def rights() -> QuerySet[Permission]:
    """The permissions that mean something here: roles stand for all that Django makes by itself."""
    made = Q(*[Q(codename__startswith=f"{verb}_") for verb in DJANGOS_VERBS], _connector=Q.OR)
    return Permission.objects.exclude(made).select_related("content_type")


def name_of(right: Permission) -> str:
    """How a file writes a permission."""
    return f"{right.content_type.app_label}.{right.codename}"


def every_right() -> frozenset[str]:
    """Every right by name."""
    return frozenset(map(name_of, rights()))
