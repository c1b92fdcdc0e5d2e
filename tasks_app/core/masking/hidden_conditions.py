"""Conditions and lock keys of a plan on values that a kind hides: what a step does tells the value.

What a condition compares a hidden value with is hidden too, and who may not see the value may not
submit a plan that compares it, or that locks by it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.faults import Fault
from tasks_app.core.jobs.conditions import OPERATORS
from tasks_app.core.jobs.plans import Plan, Step
from tasks_app.core.jobs.references import (
    DEFAULT,
    RESULT,
    find_references,
    has_references,
    is_reference,
    parse_reference,
)
from tasks_app.core.masking.hidden_words import Source
from tasks_app.core.masking.origins import LOCK_KEY, Origin, origins_of_item, origins_of_step
from tasks_app.core.masking.redaction import MASK, Budget, Hidden, OverBudget, folded, masked

JOINTS: Final = ("and", "or")


def comparison_faults(plan: Plan, hidden: Hidden) -> list[Fault]:
    """Where a plan compares what somebody may not see, each with the kind that hides it."""
    kinds = {step.name: step.kind for step in plan.steps}
    return [
        Fault(
            place,
            f"compares a value that the kind {kind} hides, and whether the step runs would tell "
            "the value; submit it with a token that has the scope payloads",
        )
        for number, step in enumerate(plan.steps)
        if step.when is not None
        for place, kind in _compared(step.when, f"steps[{number}].when", kinds, hidden)
    ]


def lock_faults(plan: Plan, hidden: Hidden) -> list[Fault]:
    """Where a plan locks by what somebody may not see, each with a kind that hides it.

    A step waits while another task has its lock, so whoever holds a lock by a guess learns from the
    wait whether the guess is right.
    """
    if not hidden:
        return []
    return [
        Fault(
            f"steps[{number}].lock_key",
            f"is filled in from a value that the kind {kind} hides, and the wait for the lock "
            "would tell the value; submit it with a token that has the scope payloads",
        )
        for number, step in enumerate(plan.steps)
        if (kind := _locked_by(plan, step, hidden)) is not None
    ]


def shown_plan(plan: Mapping[str, Any], hidden: Hidden, budget: Budget | None = None) -> Any:
    """A plan as somebody may see it: without values of keys that any kind hides.

    What a condition compares with a hidden value is left out as well; all of it where the budget
    is used up.
    """
    if not hidden:
        return plan
    kinds = {step["name"]: step["kind"] for step in plan["steps"]}
    steps = [
        {**step, "when": shown_condition(step["when"], kinds, hidden)} if step.get("when") else step
        for step in plan["steps"]
    ]
    try:
        return masked({**plan, "steps": steps}, frozenset().union(*hidden.values()), budget)
    except OverBudget:
        return MASK


def shown_condition(when: Any, kinds: Mapping[str, str], hidden: Hidden) -> Any:
    """A condition as somebody may see it; ``kinds`` are those of the plan's steps by name.

    >>> shown_condition({"$result": "look.label", "equals": "fraud"}, {"look": "classify"},
    ...                 {"classify": folded(["label"])})
    {'$result': 'look.label', 'equals': '[redacted]'}
    """
    if not hidden or not isinstance(when, Mapping):
        return when
    if "not" in when:
        return {"not": shown_condition(when["not"], kinds, hidden)}
    for joint in JOINTS:
        if joint in when:
            return {joint: [shown_condition(each, kinds, hidden) for each in when[joint]]}
    if not _hiders(when, kinds, hidden):
        return when
    compared = {*OPERATORS, DEFAULT} & when.keys()
    return {
        name: MASK if name in compared and not is_reference(value) else value
        for name, value in when.items()
    }


def _locked_by(plan: Plan, step: Step, hidden: Hidden) -> str | None:
    """A kind whose hidden value a step's lock key is made of."""
    if not has_references(step.lock_key):
        return None
    for each in _origins_of(plan, step):
        # Without a kind it was written into the plan: whoever submits it knows it.
        if each.at[0] == LOCK_KEY and each.kind and Source("", [each]).hides(LOCK_KEY, hidden):
            return each.kind
    return None


def _origins_of(plan: Plan, step: Step) -> Iterator[Origin]:
    if not step.is_join:
        yield from origins_of_step(plan, step)
        return
    items = 1 if is_reference(step.for_each) else len(step.for_each)
    for item in range(items):
        yield from origins_of_item(plan, step, item, items)


def _compared(
    when: Any, place: str, kinds: Mapping[str, str], hidden: Hidden
) -> Iterator[tuple[str, str]]:
    """Each comparison of a condition that somebody may not make, and a kind that hides from it."""
    if "not" in when:
        yield from _compared(when["not"], f"{place}.not", kinds, hidden)
        return
    for joint in JOINTS:
        if joint in when:
            for index, each in enumerate(when[joint]):
                yield from _compared(each, f"{place}.{joint}[{index}]", kinds, hidden)
            return
    for kind in _hiders(when, kinds, hidden)[:1]:
        yield place, kind


def _hiders(when: Mapping[str, Any], kinds: Mapping[str, str], hidden: Hidden) -> Sequence[str]:
    """The kinds whose hidden values a comparison may tell.

    Where it compares objects or lists, or one result with another, what it finds may hold any key.
    """
    name = next((name for name in OPERATORS if name in when), None)
    operand = when[name] if name else None
    references = [each for _, each in find_references(operand, "")]
    if RESULT in when:
        reference = {key: when[key] for key in (RESULT, DEFAULT) if key in when}
        references.append(parse_reference(reference))
    wide = is_reference(operand) or _holds_parts(operand, name)
    places = [
        (kinds[each.step], each.path)
        for each in references
        if not isinstance(each, Fault) and each.step is not None and each.step in kinds
    ]
    return [
        kind
        for kind, path in places
        if (keys := hidden.get(kind)) and (wide or keys & folded(path))
    ]


def _holds_parts(operand: Any, name: str | None) -> bool:
    options = operand if name == "in" and isinstance(operand, list) else [operand]
    return any(isinstance(option, dict | list) for option in options)
