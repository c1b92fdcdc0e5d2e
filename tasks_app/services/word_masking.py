"""Rows with texts about tasks, as somebody may see them."""

from collections.abc import Sequence
from typing import TypeVar

from tasks_app.core.redaction import Budget, Hidden
from tasks_app.store.reads.hidden_words import words_about

__all__ = ["shown_rows", "words_about"]

Row = TypeVar("Row")


def shown_rows(
    rows: Sequence[Row], hidden: Hidden, task: str, *fields: str, budget: Budget | None = None
) -> list[Row]:
    """Rows as somebody may see them: ``task`` names the field of the id, ``fields`` the texts."""
    told = [row for row in rows if any(getattr(row, name) for name in fields)]
    words = words_about((getattr(row, task) for row in told), hidden, budget)
    return [words.row(getattr(row, task), row, *fields) for row in rows]
