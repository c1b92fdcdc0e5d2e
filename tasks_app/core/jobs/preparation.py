"""What becomes of a step once all that it needs has ended: handed out, fanned out, or skipped."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tasks_app.core.intake.new_tasks import LONGEST_LOCK, fault_of_text, shown
from tasks_app.core.intake.payloads import dump_json
from tasks_app.core.jobs.conditions import holds
from tasks_app.core.jobs.plans import LARGEST_FAN_OUT, MOST_ITEMS, PayloadCheck, Step
from tasks_app.core.jobs.references import Missing, Scope, substitute

SEPARATOR: Final = 16
"""Characters that a comma or bracket counts for: a value costs as much as a text of that length,
and a number of one digit takes as many bytes in the database."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Its condition does not hold."""


@dataclass(frozen=True, slots=True)
class Unfit:
    """It cannot be handed out as it is, in one sentence: a human decides."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ready:
    """It can be handed out with this payload, a JSON text, under this lock."""

    payload: str
    lock_key: str | None = None


@dataclass(frozen=True, slots=True)
class FannedOut:
    """One task for each of these, in the order of the items."""

    items: Sequence[Ready]


Prepared = Skipped | Unfit | Ready | FannedOut


def prepare_step(step: Step, scope: Scope, check: PayloadCheck) -> Prepared:
    """Decide what becomes of a step whose dependencies are met.

    >>> step = Step("draft", "draft", {"about": {"$result": "classify.label"}})
    >>> prepare_step(step, Scope({"classify": {"label": "card"}}), lambda _kind, _payload: None)
    Ready(payload='{"about":"card"}', lock_key=None)
    """
    if step.when is not None and not holds(step.when, scope):
        return Skipped()
    try:
        if not step.is_join:
            return _filled(step, scope, check, "payload")
        return FannedOut(_fan_out(step, scope, check))
    except _Unfit as unfit:
        return Unfit(str(unfit))


def length_of(payload: str) -> int:
    """What a payload (JSON text) costs a round, in characters of a long text.

    >>> length_of('{"text":"some words"}'), length_of("[7,7]")
    (36, 35)
    """
    return len(payload) + (SEPARATOR - 1) * sum(map(payload.count, ",[{"))


class _Unfit(Exception):
    """Why a step cannot be handed out."""


def _items_of(step: Step, scope: Scope) -> list[Any]:
    try:
        items = substitute(step.for_each, scope)
    except Missing as missing:
        raise _Unfit(f"for_each: {missing}") from missing
    if not isinstance(items, list):
        raise _Unfit(f"for_each: a list is wanted, got {shown(items)}")
    if len(items) > MOST_ITEMS:
        raise _Unfit(f"for_each: at most {MOST_ITEMS:,} items, there are {len(items):,}")
    if step.quorum is not None and step.quorum > len(items):
        raise _Unfit(f"quorum: {step.quorum} of {len(items)} items cannot complete")
    return items


def _fan_out(step: Step, scope: Scope, check: PayloadCheck) -> list[Ready]:
    items = _items_of(step, scope)
    filled: list[Ready] = []
    room = LARGEST_FAN_OUT
    for number, item in enumerate(items):
        one = replace(scope, item=item, has_item=True)
        filled.append(_filled(step, one, check, f"item {number}"))
        room -= length_of(filled[-1].payload)
        if room < 0:
            raise _Unfit(
                f"for_each: {number + 1:,} of {len(items):,} items have payloads of more than "
                f"{LARGEST_FAN_OUT:,} characters together, of which each comma and bracket counts "
                f"for {SEPARATOR}; a handler finds whole results of earlier steps in ctx.inputs"
            )
    return filled


def _filled(step: Step, scope: Scope, check: PayloadCheck, place: str) -> Ready:
    try:
        payload = substitute(step.payload, scope)
    except Missing as missing:
        raise _Unfit(f"{place}: {missing}") from missing
    dumped = dump_json(payload)
    fault = dumped.faults[0] if dumped.faults else check(step.kind, payload)
    if fault is not None:
        raise _Unfit(f"{place}: {fault}")
    return Ready(dumped.text, _lock_of(step, scope, place))


def _lock_of(step: Step, scope: Scope, place: str) -> str | None:
    try:
        found = substitute(step.lock_key, scope)
    except Missing as missing:
        raise _Unfit(f"lock_key of {place}: {missing}") from missing
    # What is locked often has a number: an invoice, a customer.
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    if found is not None and (message := fault_of_text(found, LONGEST_LOCK)):
        raise _Unfit(f"lock_key of {place}: {message}, got {shown(found)}")
    return None if found is None else str(found)
