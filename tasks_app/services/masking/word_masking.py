"""Rows with texts about tasks, as somebody may see them."""

from collections.abc import Sequence
from typing import Final, TypeVar

from tasks_app.core.masking.redaction import Budget, Hidden
from tasks_app.store.reads.hidden_words import words_about

__all__ = ["shown_rows", "words_about"]

Row = TypeVar("Row")

ROWS_OF_A_PAGE: Final = 50


def shown_rows(
    rows: Sequence[Row], hidden: Hidden, task: str, *fields: str, budget: Budget | None = None
) -> list[Row]:
    """Rows as somebody may see them: ``task`` names the field of the id, ``fields`` the texts.

    Without a ``budget``, which is a page's, so many rows as a page has get one of their own.
    """
    shown: list[Row] = []
    portion = len(rows) if budget else ROWS_OF_A_PAGE
    for first in range(0, len(rows), portion or 1):
        part = rows[first : first + portion]
        told = [row for row in part if any(getattr(row, name) for name in fields)]
        words = words_about((getattr(row, task) for row in told), hidden, budget)
        shown += [words.row(getattr(row, task), row, *fields) for row in part]
    return shown
