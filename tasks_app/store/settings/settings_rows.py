"""Rows of configuration, written by services; admins' forms save the same rows themselves."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import Group
from django.db.models import Model, Prefetch

from tasks_app.store.reads.people.rights import name_of, rights

# Which columns there are follows the models: a setting that is new needs no statement of its own.


def find(model: type[Model], key: Any) -> Model | None:
    """One row, or None."""
    return model._default_manager.filter(pk=key).first()


def every(model: type[Model], *, locked: bool) -> Sequence[Model]:
    """All rows by key; ``locked`` holds them until the transaction ends."""
    rows = model._default_manager.order_by("pk")
    return list(rows.select_for_update(of=("self",), no_key=True) if locked else rows)


def insert(model: type[Model], key: Any, columns: Mapping[str, Any]) -> None:
    """Add one row."""
    model._default_manager.create(pk=key, **columns)


def update(model: type[Model], key: Any, columns: Mapping[str, Any]) -> bool:
    """Change columns of one row; False when there is none."""
    return model._default_manager.filter(pk=key).update(**columns) == 1


def every_group(*, locked: bool) -> dict[str, list[str]]:
    """Each group's rights by its name; ``locked`` holds the groups."""
    groups = Group.objects.order_by("name")
    rows = list(groups.select_for_update(no_key=True) if locked else groups)
    held = rights().prefetch_related(Prefetch("group_set", queryset=groups))
    found: dict[str, list[str]] = {row.name: [] for row in rows}
    for right in held:
        for group in right.group_set.all():
            found[group.name].append(name_of(right))
    return {name: sorted(names) for name, names in found.items()}


def set_rights(group: str, names: Sequence[str]) -> None:
    """Make a group where there is none, and give it exactly these rights."""
    row, _ = Group.objects.get_or_create(name=group)
    row.permissions.set([right for right in rights() if name_of(right) in names])
