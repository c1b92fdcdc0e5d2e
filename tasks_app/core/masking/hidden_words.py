"""What somebody may see of tasks: their parts without what is hidden, and texts without it too."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar
from uuid import UUID

from tasks_app.core.masking.origins import ANY, ERROR, LOCK_KEY, PAYLOAD, RESULT, Origin
from tasks_app.core.masking.redaction import (
    MASK,
    Budget,
    Hidden,
    OverBudget,
    folded,
    masked,
    secrets_in,
    without,
)

Row = TypeVar("Row")

ALL: Final = UUID(int=0)
"""Stands for all tasks that something was put together from."""


@dataclass(frozen=True, slots=True)
class Source:
    """Whose a task's values are: its kind, and the origins of what was filled in."""

    kind: str
    origins: Sequence[Origin] = ()

    def hides(self, part: str, hidden: Hidden) -> bool:
        """Whether some place of a part, or all of it, is hidden because of where it came from."""
        found = (each for each in self.origins if each.at[0] == part)
        return any(_is_hidden(each, _keys_of(each, hidden)) for each in found)


def hides_payload(source: Source, hidden: Hidden) -> bool:
    """Whether a payload has places that somebody may not see, or may have them."""
    own = bool(hidden.get(source.kind))
    return own or any(each.at[0] == PAYLOAD and _keys_of(each, hidden) for each in source.origins)


def shown_part(
    value: Any, part: str, source: Source, hidden: Hidden, budget: Budget | None = None
) -> Any:
    """A payload or result as somebody may see it; all of it hidden where the budget is used up.

    >>> source = Source("draft", [Origin((PAYLOAD, "about"), "classify", ("label",))])
    >>> shown_part({"about": "fraud", "to": "Ada"}, PAYLOAD, source,
    ...            {"classify": folded(["label"])})
    {'about': '[redacted]', 'to': 'Ada'}
    """
    try:
        shown = masked(value, hidden.get(source.kind, frozenset()), budget)
        for origin in source.origins:
            keys = _keys_of(origin, hidden) if origin.at[0] == part else frozenset[str]()
            if keys:
                shown = _changed(shown, origin.at[1:], _hider(origin, keys, budget))
    except OverBudget:
        return MASK
    return shown


def secrets_of(
    value: Any, part: str, source: Source, hidden: Hidden, budget: Budget | None = None
) -> frozenset[str]:
    """Every hidden value of a payload or result, as others write it. Raises OverBudget."""
    found = secrets_in(value, hidden.get(source.kind, frozenset()), budget)
    for origin in source.origins:
        keys = _keys_of(origin, hidden) if origin.at[0] == part else frozenset[str]()
        if keys:
            there = _at(value, origin.at[1:])
            found |= secrets_in(there, keys, budget, whole=_is_hidden(origin, keys))
    return found


def _keys_of(origin: Origin, hidden: Hidden) -> frozenset[str]:
    if origin.kind is None:
        return frozenset().union(*hidden.values())
    return hidden.get(origin.kind, frozenset())


def _is_hidden(origin: Origin, keys: frozenset[str]) -> bool:
    return bool(keys) and (origin.path == (ANY,) or bool(keys & folded(origin.path)))


def _hider(origin: Origin, keys: frozenset[str], budget: Budget | None) -> Callable[[Any], Any]:
    if _is_hidden(origin, keys):
        return lambda _: MASK
    return lambda value: masked(value, keys, budget)


def _changed(value: Any, path: Sequence[str], change: Callable[[Any], Any]) -> Any:
    """The value with what stands at a path changed; as it is where nothing does."""
    if not path:
        return change(value)
    first, rest = path[0], path[1:]
    if isinstance(value, dict) and first in value:
        return {**value, first: _changed(value[first], rest, change)}
    if isinstance(value, list) and first.isdecimal() and int(first) < len(value):
        at = int(first)
        return [*value[:at], _changed(value[at], rest, change), *value[at + 1 :]]
    return value


def _at(value: Any, path: Sequence[str]) -> Any:
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def part_of(shown: Any, path: Sequence[str | int]) -> Any:
    """What is shown of a value at a path: the mask where something around it is masked."""
    for part in path:
        if shown == MASK:
            return MASK
        shown = shown[part]
    return shown


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody may see of some tasks, and of what is said about them; by default all of it.

    ``secrets`` are looked for in texts; about the tasks of ``whole`` no text is shown, for they
    have more to look for than a page has time for. ``sources`` say what is hidden in their parts.
    """

    secrets: Mapping[UUID, frozenset[str]] = field(default_factory=dict)
    sources: Mapping[UUID, Source] = field(default_factory=dict)
    whole: frozenset[UUID] = frozenset()
    hidden: Hidden = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)

    def text(self, task: UUID, text: str) -> str:
        """A text about a task."""
        if not text:
            return text
        if task in self.whole:
            return MASK
        secrets = self.secrets.get(task)
        if not secrets:
            return text
        try:
            self.budget.compare(len(text) * len(secrets))
        except OverBudget:
            return MASK
        return without(text, secrets)

    def json(self, task: UUID, value: Any) -> Any:
        """A JSON value about a task, such as an error: the texts and figures in it."""
        if task in self.whole:
            return MASK
        if not self.secrets.get(task):
            return value
        try:
            return self._without(task, value)
        except OverBudget:
            return MASK

    def payload(self, task: UUID, value: Any) -> Any:
        """The task's payload: hidden where it is by its place, and where others filled it in.

        What was submitted is left: if a guess were masked where it equals a hidden value, whoever
        may submit could try out any.
        """
        source = self.sources.get(task)
        if source is None:
            return value
        shown = shown_part(value, PAYLOAD, source, self.hidden, self.budget)
        for origin in source.origins:
            if origin.at[0] == PAYLOAD and origin.kind is not None:
                shown = _changed(shown, origin.at[1:], lambda filled: self.json(task, filled))
        return shown

    def hides_in(self, task: UUID, payload: Any) -> bool:
        """Whether something in the task's payload is hidden, or would be if it were there."""
        source = self.sources.get(task)
        known = source is not None and hides_payload(source, self.hidden)
        return known or self.payload(task, payload) != payload

    def result(self, task: UUID, value: Any) -> Any:
        """The task's result: hidden where it is by its place, and where it repeats a value."""
        source = self.sources.get(task)
        if source is not None:
            value = shown_part(value, RESULT, source, self.hidden, self.budget)
        return self.json(task, value)

    def together(self) -> "Words":
        """The same about what was put together from all of these tasks, as one: ``ALL``."""
        secrets = frozenset[str]().union(*self.secrets.values())
        whole = frozenset([ALL]) if self.whole else frozenset[UUID]()
        return replace(self, secrets={ALL: secrets}, sources={}, whole=whole)

    def changed(self, task: UUID, side: Mapping[str, Any]) -> dict[str, Any]:
        """One side of a change of the task's payload, by place; the places stay."""
        source = self.sources.get(task)
        filled = source is not None and source.hides(PAYLOAD, self.hidden)
        # Which place a value was filled into, and what was edited there since, nobody can tell.
        return {place: MASK if filled else self.json(task, each) for place, each in side.items()}

    def lock_key(self, task: UUID, text: str | None) -> str | None:
        """The key of the lock that the task needs."""
        source = self.sources.get(task)
        if text and source is not None and source.hides(LOCK_KEY, self.hidden):
            return MASK
        return text and self.text(task, text)

    def row(self, task: UUID, row: Row, *fields: str) -> Row:
        """A row about a task, with these fields of it: texts, or its ``lock_key``."""
        if task not in self.secrets and task not in self.whole and task not in self.sources:
            return row
        shown = {
            name: (self.lock_key if name == LOCK_KEY else self.text)(task, getattr(row, name))
            for name in fields
        }
        return replace(row, **shown)  # type: ignore[type-var]  # rows are dataclasses

    def _without(self, task: UUID, value: Any) -> Any:
        if isinstance(value, dict):
            self.budget.visit(len(value))
            return {
                self.text(task, str(name)): self._without(task, each)
                for name, each in value.items()
            }
        if isinstance(value, list):
            self.budget.visit(len(value))
            return [self._without(task, each) for each in value]
        if isinstance(value, str):
            return self.text(task, value)
        figure = isinstance(value, int | float) and not isinstance(value, bool)
        return MASK if figure and json.dumps(value) in self.secrets[task] else value


def source_of(kind: str, origins: Sequence[Origin], hidden: Hidden) -> Source | None:
    """A task's source; None where nothing that is filled in can be hidden."""
    filled = any(_keys_of(each, hidden) for each in origins)
    return Source(kind, origins) if filled or hidden.get(kind) else None


def tells_nothing(source: Source, hidden: Hidden) -> bool:
    """Whether no text about a task may be shown: what it says may hold any hidden value."""
    return source.hides(ERROR, hidden)
