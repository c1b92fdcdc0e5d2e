"""Who may see payloads whole, and what everybody else sees of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from tasks_app.core.masking.hidden_words import ALL, Source, Words, shown_part
from tasks_app.core.masking.origins import RESULT, Origin, origins_of_job
from tasks_app.core.masking.redaction import Budget, Hidden
from tasks_app.store.reads.hidden_words import words_about
from tasks_app.store.reads.jobs.jobs import JobAnswer
from tasks_app.store.reads.search.kinds import KindSearch, list_kind_searches
from tasks_app.store.reads.search.task_detail import Edge, TaskDetail

PERMISSION: Final = "tasks_app.see_payloads"


def may_see_payloads(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Whether a user sees what kinds redact; superusers do."""
    has_perm = getattr(user, "has_perm", None)
    return bool(has_perm is not None and has_perm(PERMISSION))


def hidden_from(sees_payloads: bool, kinds: Sequence[KindSearch] | None = None) -> Hidden:
    """By kind, the keys whose values somebody may not see; empty for who may see all."""
    if sees_payloads:
        return {}
    known = list_kind_searches() if kinds is None else kinds
    return {kind.name: kind.redacted for kind in known if kind.redacted}


def hidden_from_user(user: AbstractBaseUser | AnonymousUser) -> Hidden:
    """The same for a user; their permission is only asked for where there is something to hide."""
    hidden = hidden_from(sees_payloads=False)
    return {} if hidden and may_see_payloads(user) else hidden


def shown_task(task: TaskDetail, words: Words) -> TaskDetail:
    """A task with its payload, its result and what is said about it as somebody may see them."""
    shown = words.row(task.id, task, "error_message", "lock_key")
    return replace(
        shown,
        payload=words.payload(task.id, task.payload),
        result=words.result(task.id, task.result),
    )


def shown_inputs(edges: Sequence[Edge], words: Words) -> list[Edge]:
    """What a task needs, with the inputs that it gives as somebody may see them."""
    return [replace(e, result=words.result(e.id, e.result)) for e in edges if e.needed]


def shown_job_result(found: JobAnswer, hidden: Hidden, budget: Budget | None = None) -> Any:
    """A job's result, put together from those of its steps, as somebody may see it."""
    value = found.job.result
    if not hidden or value is None:
        return value
    budget = budget or Budget()
    origins = origins_of_job(found.plan)
    # It may hold what steps were told by others, and what the plan itself says.
    everything = Origin((RESULT,), None)
    shown = shown_part(value, RESULT, Source("", [everything, *origins]), hidden, budget)
    words = words_about([step.task_id for step in found.steps], hidden, budget)
    return words.together().json(ALL, shown)
