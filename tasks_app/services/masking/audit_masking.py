"""What people did, as somebody may read it: the audit, bulk actions and a task's own history."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from tasks_app.core.masking.hidden_actions import EDIT, PRIVATE, is_private, shown_places
from tasks_app.core.masking.hidden_queries import shown_query
from tasks_app.core.masking.hidden_words import Words
from tasks_app.core.masking.redaction import Hidden
from tasks_app.services.masking.word_masking import words_about
from tasks_app.store.reads.actions.bulks import BulkRow
from tasks_app.store.reads.actions.task_actions import Act
from tasks_app.store.reads.people.audit import Entry


def shown_entries(entries: Sequence[Entry], hidden: Hidden) -> list[Entry]:
    """Entries of the audit; a private search is named by nobody, whoever reads."""
    edited = {entry.id: _edited(entry) for entry in entries if entry.action == EDIT}
    words = words_about((task for task in edited.values() if task), hidden)
    return [_shown(entry, edited.get(entry.id), words, hidden) for entry in entries]


def shown_pages(pages: Iterable[Sequence[Entry]], hidden: Hidden) -> Iterator[list[Entry]]:
    """The same, page after page, for an export."""
    return (shown_entries(page, hidden) for page in pages)


def shown_act(act: Act, task: UUID, words: Words) -> Act:
    """What a person did to a task."""
    if act.action != EDIT:
        return act
    side = _sides(task, words)
    return replace(act, before=side(act.before), after=side(act.after))


def shown_bulks(rows: Sequence[BulkRow], hidden: Hidden) -> list[BulkRow]:
    """Bulk actions, each with the query that it was begun on."""
    return [replace(row, wanted=shown_query(row.wanted, hidden)) for row in rows]


def _shown(entry: Entry, task: UUID | None, words: Words, hidden: Hidden) -> Entry:
    if is_private(entry.action, entry.detail):
        return replace(entry, subject=PRIVATE, wanted="")
    entry = replace(entry, wanted=shown_query(entry.wanted, hidden))
    if entry.action != EDIT:
        return entry
    side = _sides(task, replace(words, hidden=hidden))
    return replace(entry, before=side(entry.before), after=side(entry.after))


def _sides(task: UUID | None, words: Words) -> Callable[[Any], Any]:
    def side(value: Any) -> Any:
        shown = shown_places(value, words.hidden)
        return shown if task is None or value is None else words.changed(task, shown)

    return side


def _edited(entry: Entry) -> UUID | None:
    tasks = entry.detail.get("tasks") if isinstance(entry.detail, dict) else None
    return UUID(tasks[0]) if tasks else None
