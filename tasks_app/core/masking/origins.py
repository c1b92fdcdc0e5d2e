"""Where the values of a job's tasks came from: what is hidden at its source stays hidden.

A step's payload and lock key are filled from results of other kinds, a compensation is told of what
it undoes, a join holds the results of its items. Each such place has an origin, which names the
kind and the path there; the keys that the kind hides are looked up when somebody reads the value.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tasks_app.core.jobs.plans import Plan, Step
from tasks_app.core.jobs.references import LITERAL, Reference, is_reference, parse_reference

PAYLOAD: Final = "payload"
RESULT: Final = "result"
LOCK_KEY: Final = "lock_key"
ERROR: Final = "error"
TOLD: Final = "told"
"""No part: of this kind is something that the task could be told of, directly or by others."""

ANY: Final = "*"
"""As a path: some place or other of the source, so that the value is hidden if the kind hides
anything."""

MOST_OF_A_STEP: Final = 50_000
"""Origins that are written for all items of one ``for_each``; with more each item has one a
kind."""

MOST_OF_A_TASK: Final = 500


@dataclass(frozen=True, slots=True)
class Origin:
    """The place ``at`` of a task holds what stood at ``path`` in a value of ``kind``.

    ``at`` begins with the part of the task: its payload, result, lock key or error. Where it is
    ``TOLD`` no place is known: handlers may repeat what they are told under any name. Without a
    ``kind`` the value was written into the plan, which may hold values of any kind.
    """

    at: tuple[str, ...]
    kind: str | None
    path: tuple[str, ...] = ()

    def within(self, *at: str) -> "Origin":
        """The same origin where its value became a part of another one."""
        return replace(self, at=(*at, *self.at))


def origins_of_step(plan: Plan, step: Step) -> list[Origin]:
    """The origins of a step's own task: filled in as the plan says, or a join of its items."""
    if step.is_join:
        own = [Origin((PAYLOAD,), step.kind), Origin((RESULT,), step.kind)]
        return [*own, *_told(plan, step.name)]
    return _bounded(_filled(plan, step, ()), MOST_OF_A_TASK) + _told(plan, step.name)


def origins_of_item(plan: Plan, step: Step, item: int, items: int) -> list[Origin]:
    """The origins of one of the tasks of a ``for_each``."""
    most = min(MOST_OF_A_TASK, MOST_OF_A_STEP // max(items, 1))
    return _bounded(_filled(plan, step, _of_item(plan, step, item)), most) + _told(plan, step.name)


def origins_of_error(plan: Plan, step: Step) -> list[Origin]:
    """The origins of what is said about a step that could not be filled in: all it refers to."""
    kinds = _kinds(plan)
    found = [
        Origin((ERROR,), kinds[each.step], each.path)
        for each in step.references
        if each.step is not None
    ]
    return _bounded(dict.fromkeys(found), MOST_OF_A_TASK)


def origins_of_undo(plan: Plan, step: Step, undone: Iterable[Origin]) -> list[Origin]:
    """The origins of a compensation: what it is told of the task that it undoes, whose are given.

    >>> step = Step("pay", "charge")
    >>> [(each.at, each.kind) for each in origins_of_undo(Plan([step]), step, ())]
    [(('payload', 'payload'), 'charge'), (('payload', 'result'), 'charge'), (('told',), 'charge')]
    """
    told = list(dict.fromkeys([*_told(plan, step.name), Origin((TOLD,), step.kind)]))
    if step.compensation is not None and step.compensation.has_template:
        found = list(_traced(step.compensation.template, (PAYLOAD,), _kinds(plan), ()))
        return _bounded(found, MOST_OF_A_TASK) + told
    parts = [Origin((PAYLOAD, part), step.kind) for part in (PAYLOAD, RESULT)]
    carried = [each.within(PAYLOAD) for each in undone if each.at[0] in (PAYLOAD, RESULT)]
    return _bounded([*parts, *carried], MOST_OF_A_TASK) + told


def origins_of_job(plan: Plan) -> list[Origin]:
    """The origins of a job's result, put together as its plan says."""
    if not plan.has_result:
        last = [step for step in plan.steps if not plan.dependents[step.name]]
        return [Origin((RESULT, step.name), step.kind) for step in last]
    return list(_traced(plan.result, (RESULT,), _kinds(plan), ()))


def as_json(origins: Sequence[Origin]) -> str | None:
    """As the record keeps them; None for none.

    >>> as_json([Origin(("payload", "about"), "classify", ("label",))])
    '[[["payload","about"],"classify",["label"]]]'
    """
    if not origins:
        return None
    written = [[each.at, each.kind, each.path] for each in origins]
    return json.dumps(written, separators=(",", ":"))


def load_origins(value: Sequence[Any] | None) -> list[Origin]:
    """What ``as_json`` wrote, from the record."""
    return [Origin(tuple(at), kind, tuple(path)) for at, kind, path in value or ()]


def _kinds(plan: Plan) -> Mapping[str, str]:
    # The kind of a step with items is that of its items: its result is theirs.
    return {step.name: step.kind for step in plan.steps}


def _told(plan: Plan, name: str) -> list[Origin]:
    """An origin for each kind that has done something before a step, in the order of the plan."""
    before: set[str] = set()
    waiting = [name]
    while waiting:
        needs = plan.steps[plan.places[waiting.pop()]].needs
        new = {need.on for need in needs} - before
        before |= new
        waiting += new
    kinds = [step.kind for step in plan.steps if step.name in before]
    return [Origin((TOLD,), kind) for kind in dict.fromkeys(kinds)]


def _filled(plan: Plan, step: Step, item: Sequence[Origin]) -> list[Origin]:
    kinds = _kinds(plan)
    return [
        *_traced(step.payload, (PAYLOAD,), kinds, item),
        *_traced(step.lock_key, (LOCK_KEY,), kinds, item),
    ]


def _of_item(plan: Plan, step: Step, item: int) -> list[Origin]:
    """The origins of one item of a ``for_each``: their ``at`` leads into the item."""
    if is_reference(step.for_each):
        if set(step.for_each) == {LITERAL}:
            return [Origin((), None)]
        reference = parse_reference(step.for_each)
        assert reference.step is not None, "a for_each stands in no other"
        return [Origin((), _kinds(plan)[reference.step], (*reference.path, str(item)))]
    return [Origin((), None), *_traced(step.for_each[item], (), _kinds(plan), ())]


def _traced(
    template: object, at: tuple[str, ...], kinds: Mapping[str, str], item: Sequence[Origin]
) -> Iterator[Origin]:
    """An origin for each reference of a template; those of the item lead on from the item's."""
    if is_reference(template):
        assert isinstance(template, dict)
        if set(template) != {LITERAL}:
            yield from _of_reference(parse_reference(template), at, kinds, item)
    elif isinstance(template, dict):
        for key, value in template.items():
            yield from _traced(value, (*at, key), kinds, item)
    elif isinstance(template, list | tuple):
        for index, value in enumerate(template):
            yield from _traced(value, (*at, str(index)), kinds, item)


def _of_reference(
    reference: Reference, at: tuple[str, ...], kinds: Mapping[str, str], item: Sequence[Origin]
) -> Iterator[Origin]:
    if reference.step is not None:
        yield Origin(at, kinds[reference.step], reference.path)
        return
    path = reference.path
    for each in item:
        within = len(each.at)
        if path[:within] == each.at:
            yield Origin(at, each.kind, (*each.path, *path[within:]))
        elif each.at[: len(path)] == path:
            yield Origin((*at, *each.at[len(path) :]), each.kind, each.path)


def _bounded(found: Iterable[Origin], most: int) -> list[Origin]:
    """The origins or, where they are too many, one a part and kind that hides the part whole."""
    origins = list(found)
    if len(origins) <= most:
        return origins
    return list(dict.fromkeys(Origin(each.at[:1], each.kind, (ANY,)) for each in origins))
