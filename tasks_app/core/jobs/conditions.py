"""Conditions of steps: ``when`` looks at earlier results and says whether a step is done at all.

``{"$result": "classify.confidence", "less": 0.7}``, joined by ``and``, ``or`` (lists) and ``not``.
The other side may be a reference too. What a reference does not find equals nothing and is neither
greater nor less; only ``exists`` tells it apart.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tasks_app.core.faults import Fault
from tasks_app.core.intake.new_tasks import shown
from tasks_app.core.jobs.references import (
    DEFAULT,
    ITEM,
    RESULT,
    Missing,
    Reference,
    Scope,
    find_references,
    is_reference,
    parse_reference,
    substitute,
)

DEEPEST: Final = 10
"""Conditions within one another."""

MOST: Final = 100
"""Conditions of one step."""


def same(one: Any, other: Any) -> bool:
    """Equality of JSON values: true is not 1, and 1 is 1.0.

    >>> same(1, True), same(1, 1.0), same([{"a": 1}], [{"a": 1.0}])
    (False, True, True)
    """
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _ordered(one: Any, other: Any) -> bool:
    """Whether two values have an order: two numbers or two texts."""
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    both_numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return both_numbers or (isinstance(one, str) and isinstance(other, str))


OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "equals": same,
    "in": lambda value, options: (
        isinstance(options, list) and any(same(value, option) for option in options)
    ),
    "greater": lambda value, bound: _ordered(value, bound) and bool(value > bound),
    "less": lambda value, bound: _ordered(value, bound) and bool(value < bound),
}
EXISTS: Final = "exists"
JOINTS: Final = ("and", "or", "not")
FORM: Final = (
    'a condition is {"$result": "step.path"} with one of equals, in, greater, less, exists, '
    'or one of {"and": [...]}, {"or": [...]}, {"not": ...}'
)


def holds(condition: Mapping[str, Any], scope: Scope) -> bool:
    """Decide a condition that was checked before.

    >>> scope = Scope({"image": {"verdict": "ok"}, "text": {"verdict": "bad"}})
    >>> holds({"not": {"$result": "image.verdict", "equals": {"$result": "text.verdict"}}}, scope)
    True
    """
    if "and" in condition:
        return all(holds(each, scope) for each in condition["and"])
    if "or" in condition:
        return any(holds(each, scope) for each in condition["or"])
    if "not" in condition:
        return not holds(condition["not"], scope)
    value, found = _found(_reference_part(condition), scope)
    if EXISTS in condition:
        return found is condition[EXISTS]
    name = next(name for name in OPERATORS if name in condition)
    try:
        operand = substitute(condition[name], scope)
    except Missing:
        return False
    return found and OPERATORS[name](value, operand)


def _found(reference: Mapping[str, Any], scope: Scope) -> tuple[Any, bool]:
    try:
        return substitute(reference, replace(scope, void=frozenset())), True
    except Missing:
        return None, False


def _reference_part(condition: Mapping[str, Any]) -> dict[str, Any]:
    return {key: condition[key] for key in (RESULT, ITEM, DEFAULT) if key in condition}


def check_condition(condition: object, place: str) -> Iterator[tuple[str, Reference | Fault]]:
    """Every fault of a condition and every reference in it, with their places."""
    yield from _Check().look(condition, place, 1)


class _Check:
    """One walk through a condition, which ends as soon as there is too much of it."""

    def __init__(self) -> None:
        self._left = MOST

    def look(
        self, condition: object, place: str, depth: int
    ) -> Iterator[tuple[str, Reference | Fault]]:
        self._left -= 1
        if self._left < 0 or depth > DEEPEST:
            if self._left >= -1:
                message = f"at most {MOST} conditions, at most {DEEPEST} within one another"
                yield place, Fault(place, message)
            return
        if not isinstance(condition, dict):
            yield place, Fault(place, f"{FORM}, got {shown(condition)}")
        elif joint := next((name for name in JOINTS if name in condition), None):
            yield from self._joint(condition, joint, place, depth)
        else:
            yield from _comparison(condition, place)

    def _joint(
        self, condition: dict[str, Any], joint: str, place: str, depth: int
    ) -> Iterator[tuple[str, Reference | Fault]]:
        within = condition[joint]
        if len(condition) > 1:
            yield place, Fault(place, f"{joint} stands alone; {FORM}")
        elif joint == "not":
            yield from self.look(within, f"{place}.not", depth + 1)
        elif not isinstance(within, list) or not within:
            yield place, Fault(place, f"{joint} needs a list of at least one condition")
        else:
            for index, each in enumerate(within):
                yield from self.look(each, f"{place}.{joint}[{index}]", depth + 1)


def _comparison(condition: dict[str, Any], place: str) -> Iterator[tuple[str, Reference | Fault]]:
    names = [name for name in (*OPERATORS, EXISTS) if name in condition]
    reference = _reference_part(condition)
    if len(names) != 1 or not is_reference(reference) or len(condition) != len(reference) + 1:
        yield place, Fault(place, FORM)
        return
    try:
        yield place, parse_reference(reference)
    except ValueError as error:
        yield place, Fault(place, str(error))
    operand = condition[names[0]]
    at = f"{place}.{names[0]}"
    yield from find_references(operand, at)
    if names == [EXISTS] and not isinstance(operand, bool):
        yield at, Fault(at, f"give true or false, got {shown(operand)}")
    elif is_reference(operand):
        return
    elif names == ["in"] and not isinstance(operand, list):
        yield at, Fault(at, f"give a list, got {shown(operand)}")
    elif names[0] in {"greater", "less"} and not _ordered(operand, operand):
        yield at, Fault(at, f"give a number or a text, got {shown(operand)}")
