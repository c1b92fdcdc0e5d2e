"""Rows of configuration, written by services; admins' forms save the same rows themselves."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db.models import Model

# Which columns there are follows the models: a setting that is new needs no statement of its own.


def find(model: type[Model], key: Any) -> Model | None:
    """One row, or None."""
    return model._default_manager.filter(pk=key).first()


def every(model: type[Model], *, locked: bool) -> Sequence[Model]:
    """All rows by key; ``locked`` holds them until the transaction ends."""
    rows = model._default_manager.order_by("pk")
    return list(rows.select_for_update(of=("self",)) if locked else rows)


def insert(model: type[Model], key: Any, columns: Mapping[str, Any]) -> None:
    """Add one row."""
    model._default_manager.create(pk=key, **columns)


def update(model: type[Model], key: Any, columns: Mapping[str, Any]) -> bool:
    """Change columns of one row; False when there is none."""
    return model._default_manager.filter(pk=key).update(**columns) == 1


def every_permission() -> frozenset[str]:
    """Every permission that there is, as ``app.codename``."""
    pairs = Permission.objects.values_list("content_type__app_label", "codename")
    return frozenset(f"{app}.{codename}" for app, codename in pairs)


def every_group(*, locked: bool) -> dict[str, list[str]]:
    """Each group's permissions by its name; ``locked`` holds the groups."""
    groups = Group.objects.order_by("name")
    rows = list(groups.select_for_update() if locked else groups)
    found: dict[str, list[str]] = {row.name: [] for row in rows}
    pairs = Permission.objects.filter(group__in=rows).values_list(
        "group__name", "content_type__app_label", "codename"
    )
    for name, app, codename in pairs:
        found[name].append(f"{app}.{codename}")
    return {name: sorted(permissions) for name, permissions in found.items()}


def set_permissions(group: str, permissions: Sequence[str]) -> None:
    """Make a group where there is none, and give it exactly these permissions."""
    row, _ = Group.objects.get_or_create(name=group)
    wanted = set(permissions)
    named = Permission.objects.select_related("content_type").filter(
        codename__in=[each.partition(".")[2] for each in wanted]
    )
    row.permissions.set([p for p in named if f"{p.content_type.app_label}.{p.codename}" in wanted])
