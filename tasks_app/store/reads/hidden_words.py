"""What has to be hidden of tasks and of what is said about them, and errors' marks without it."""

import json
from collections.abc import Iterable, Mapping
from uuid import UUID

from tasks_app.core.failures.fingerprints import key_of
from tasks_app.core.masking.hidden_words import Source, Words, secrets_of, source_of, tells_nothing
from tasks_app.core.masking.origins import PAYLOAD, RESULT
from tasks_app.core.masking.redaction import Budget, Hidden, OverBudget, kinds_that_hide
from tasks_app.core.states import DeadReason
from tasks_app.store import sql
from tasks_app.store.reads.hidden_values import Telling, values_of
from tasks_app.store.reads.search.kinds import all_hidden


def words_about(tasks: Iterable[UUID], hidden: Hidden, budget: Budget | None = None) -> Words:
    """Read what has to be hidden of these tasks, once a page; nothing is asked in vain.

    About tasks that have more of it than the budget allows no word is shown.
    """
    ids = list(dict.fromkeys(tasks))
    kinds = kinds_that_hide(hidden)
    if not ids or not kinds:
        return Words()
    budget = budget or Budget()
    secrets: dict[UUID, frozenset[str]] = {}
    sources: dict[UUID, Source] = {}
    whole: set[UUID] = set()
    for each in values_of(ids, kinds):
        source = source_of(each.source.kind, each.source.origins, hidden)
        found = _secrets(each, source, hidden, budget)
        if each.id is not None and source is not None and each.id in each.tasks:
            sources[each.id] = source
        if found is None:
            whole.update(each.tasks)
        elif source is not None and each.id is not None and tells_nothing(source, hidden):
            whole.add(each.id)
        if found:
            for task in each.tasks:
                secrets[task] = secrets.get(task, frozenset()) | found
    return Words(secrets, sources, frozenset(whole), hidden, budget)


def _secrets(
    each: Telling, source: Source | None, hidden: Hidden, budget: Budget
) -> frozenset[str] | None:
    """What may be repeated about a task; None where that is too much to look for."""
    if not each.fits:
        return None
    if source is None:
        return frozenset()
    try:
        return secrets_of(each.payload, PAYLOAD, source, hidden, budget) | secrets_of(
            each.result, RESULT, source, hidden, budget
        )
    except OverBudget:
        return None


# Of most tasks nothing is hidden, and in a storm many die at once.
FILLED = """
SELECT id FROM task
 WHERE id = ANY (%(ids)s::uuid[])
   AND (kind = ANY (%(kinds)s::text[]) OR origins IS NOT NULL OR dependency_count > 0)
"""


def fingerprints_of(errors: Mapping[UUID, str]) -> dict[UUID, str]:
    """What each error, a JSON text by the id of its task, is recognised by where it is a death's.

    It is taken from the message as everybody may read it: a digest over a hidden value would let
    whoever sees it try out what the value may be.
    """
    hidden = all_hidden() if errors else {}
    params = {"ids": sql.uuids(list(errors)), "kinds": sql.texts(kinds_that_hide(hidden))}
    filled = {row[0] for row in sql.rows(FILLED, params)} if hidden else set()
    found: dict[UUID, str] = {}
    for task, text in errors.items():
        # One by one: what a task's error is recognised by does not depend on what else died.
        words = words_about([task], hidden) if task in filled else Words()
        error = json.loads(text)
        shown = {**error, "message": words.text(task, str(error.get("message") or ""))}
        found[task] = key_of(json.dumps(shown), DeadReason.PERMANENT) or ""
    return found
