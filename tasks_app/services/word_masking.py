"""What handlers say - errors, log lines, notes - without the values that their kind hides."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import UUID

from tasks_app.core.redaction import Hidden, kinds_that_hide, secrets_in, without
from tasks_app.store.reads.hidden_values import values_of

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody may read of the words about some tasks; by default all of it."""

    secrets: Mapping[UUID, frozenset[str]] = field(default_factory=dict)

    def text(self, task: UUID, text: str) -> str:
        """A text about a task."""
        secrets = self.secrets.get(task)
        return without(text, secrets) if secrets else text

    def json(self, task: UUID, value: Any) -> Any:
        """A JSON value about a task, such as an error: the texts in it."""
        if task not in self.secrets:
            return value
        if isinstance(value, dict):
            return {name: self.json(task, each) for name, each in value.items()}
        if isinstance(value, list):
            return [self.json(task, each) for each in value]
        return self.text(task, value) if isinstance(value, str) else value

    def row(self, task: UUID, row: Row, *fields: str) -> Row:
        """A row about a task, with these fields of it."""
        if task not in self.secrets:
            return row
        shown = {name: self.text(task, getattr(row, name)) for name in fields}
        return replace(row, **shown)  # type: ignore[type-var]  # rows are dataclasses


def words_about(tasks: Iterable[UUID], hidden: Hidden) -> Words:
    """Read what has to be masked in words about these tasks; nothing is asked in vain."""
    ids = list(dict.fromkeys(tasks))
    if not ids or not hidden:
        return Words()
    secrets: dict[UUID, frozenset[str]] = {}
    for task, kind, value in values_of(ids, kinds_that_hide(hidden)):
        found = secrets_in(value, hidden[kind])
        if found:
            secrets[task] = secrets.get(task, frozenset()) | found
    return Words(secrets)


def shown_rows(rows: Sequence[Row], hidden: Hidden, task: str, *fields: str) -> list[Row]:
    """Rows as somebody may see them: ``task`` names the field of the id, ``fields`` the texts."""
    told = [row for row in rows if any(getattr(row, name) for name in fields)]
    words = words_about((getattr(row, task) for row in told), hidden)
    return [words.row(getattr(row, task), row, *fields) for row in rows]
