"""Who may see payloads whole, and what everybody else sees of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from tasks_app.core.redaction import Hidden, masked
from tasks_app.store.reads.kinds import KindSearch, list_kind_searches
from tasks_app.store.reads.task_detail import Edge, TaskDetail

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


def shown_of_any_kind(value: Any, hidden: Hidden) -> Any:
    """What was put together from tasks of several kinds, such as a job's result."""
    return masked(value, frozenset().union(*hidden.values()))


def shown_json(value: Any, kind: str, hidden: Hidden) -> Any:
    """A payload, input or result of a task of this kind as somebody may see it."""
    return masked(value, hidden.get(kind, frozenset()))


def shown_task(task: TaskDetail, hidden: Hidden) -> TaskDetail:
    """A task with its payload and result as somebody may see them."""
    return replace(
        task,
        payload=shown_json(task.payload, task.kind, hidden),
        result=shown_json(task.result, task.kind, hidden),
    )


def shown_inputs(edges: Sequence[Edge], hidden: Hidden) -> list[Edge]:
    """What a task needs, with the inputs that it gives as somebody may see them."""
    return [
        replace(edge, result=shown_json(edge.result, edge.kind, hidden))
        for edge in edges
        if edge.needed
    ]
