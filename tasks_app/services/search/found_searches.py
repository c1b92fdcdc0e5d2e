"""Saved searches as somebody may see them: shared ones without values on hidden paths."""

from collections.abc import Sequence

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from tasks_app.core.masking.hidden_queries import names_hidden_path
from tasks_app.services.masking.payload_masking import hidden_from_user
from tasks_app.store.reads.search.searches import SearchRow, list_pinned, list_searches

User = AbstractBaseUser | AnonymousUser


def searches_of(user: User) -> list[SearchRow]:
    """Somebody's own searches and the shared ones that tell them nothing hidden."""
    assert user.pk is not None, "nobody gets here without a login"
    return _seen(list_searches(user.pk), user)


def pinned_of(user: User) -> list[SearchRow]:
    """Those of them that somebody has in the side bar."""
    assert user.pk is not None, "nobody gets here without a login"
    return _seen(list_pinned(user.pk), user)


def _seen(rows: Sequence[SearchRow], user: User) -> list[SearchRow]:
    typed_by_others = [row for row in rows if row.owner_id != user.pk]
    hidden = hidden_from_user(user) if typed_by_others else {}
    return [
        row for row in rows if row.owner_id == user.pk or not names_hidden_path(row.query, hidden)
    ]
