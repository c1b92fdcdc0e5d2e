"""Every fault of a plan from outside, each with its place, before a row is written."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.faults import Fault
from tasks_app.core.intake.new_tasks import (
    LONGEST_ESTIMATE,
    LONGEST_KEY,
    LONGEST_NAME,
    NewTask,
    fault_of_text,
    is_seconds,
    shown,
    unknown_kind,
)
from tasks_app.core.intake.payloads import check_payload
from tasks_app.core.intake.task_checks import check_batch
from tasks_app.core.jobs import plans
from tasks_app.core.jobs.conditions import check_condition
from tasks_app.core.jobs.job_states import JOIN_KIND, JobPolicy
from tasks_app.core.jobs.plan_graph import check_edges
from tasks_app.core.jobs.plans import PayloadCheck
from tasks_app.core.jobs.references import Reference, find_references, has_references, is_reference
from tasks_app.core.states import OnDead

MOST_FAULTS: Final = 200
"""Faults reported of one plan."""

LONGEST_TITLE: Final = 200
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """A plan that may be submitted, or why not: ``plan`` is None where there are ``faults``."""

    plan: plans.Plan | None
    faults: tuple[Fault, ...] = ()


def check_plan(
    value: object, kinds: Collection[str], check: PayloadCheck = lambda _kind, _payload: None
) -> CheckedPlan:
    """Read a plan and find all its faults at once.

    >>> check_plan({"steps": [{"name": "a", "kind": "k", "depends_on": ["a"]}]}, ["k"]).faults
    (Fault(place='steps[0].depends_on[0]', message='a cannot wait for itself'),)
    """
    faults = [Fault(f"plan{f.place[1:]}", f.message) for f in _check_json(value)]
    if faults:
        return CheckedPlan(None, tuple(faults))
    if not isinstance(value, dict):
        return CheckedPlan(None, (Fault("plan", f"an object with steps, got {shown(value)}"),))
    faults = list(_faults_of_plan(value))
    steps = value.get("steps")
    if isinstance(steps, list):
        faults += _faults_of_steps(steps, value.get("priority", 0), kinds, check)
        faults += check_edges(steps, value.get("result"))
    if faults:
        return CheckedPlan(None, tuple(faults[:MOST_FAULTS]))
    return CheckedPlan(plans.load_plan(value))


def _check_json(value: object) -> list[Fault]:
    return check_payload(value, plans.PLAN_LIMITS)


def _faults_of_plan(value: Mapping[str, Any]) -> Iterator[Fault]:
    yield from _unknown_fields(value, plans.PLAN_FIELDS, "plan")
    steps = value.get("steps")
    if not isinstance(steps, list) or not steps:
        yield Fault("steps", f"a list of at least one step, got {shown(steps)}")
    elif len(steps) > plans.MOST_STEPS:
        yield Fault("steps", f"at most {plans.MOST_STEPS} steps, got {len(steps):,}")
    name, key = value.get("name"), value.get("key")
    if name is not None and (message := fault_of_text(name, LONGEST_TITLE)):
        yield Fault("name", f"{message}, got {shown(name)}")
    if key is not None and (message := fault_of_text(key, LONGEST_KEY)):
        yield Fault("key", f"{message}, got {shown(key)}")
    policy = value.get("on_dead", JobPolicy.ASK)
    if policy not in tuple(JobPolicy):
        yield Fault("on_dead", f"give one of {', '.join(JobPolicy)}, got {shown(policy)}")


def _unknown_fields(
    value: Mapping[str, Any], fields: Collection[str], place: str
) -> Iterator[Fault]:
    for name in sorted(value.keys() - set(fields)):
        yield Fault(place, f"no such field: {shown(name)}; there are {', '.join(fields)}")


def _faults_of_steps(
    steps: list[Any], priority: Any, kinds: Collection[str], check: PayloadCheck
) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for index, step in enumerate(steps[: plans.MOST_STEPS]):
        place = f"steps[{index}]"
        if not isinstance(step, dict):
            yield Fault(place, f"a step is an object with name and kind, got {shown(step)}")
            continue
        yield from _unknown_fields(step, plans.STEP_FIELDS, place)
        name = step.get("name")
        yield from _faults_of_name(name, place)
        if isinstance(name, str) and seen.setdefault(name, index) != index:
            yield Fault(f"{place}.name", f"the name of steps[{seen[name]}] too: {shown(name)}")
        yield from _faults_of_task(step, priority if index == 0 else 0, place, kinds)
        yield from _faults_of_deadline(step.get("deadline_seconds"), place)
        yield from _faults_of_needs(step.get("depends_on", []), f"{place}.depends_on")
        yield from _faults_of_templates(step, place, kinds, check)


def _faults_of_name(name: object, place: str) -> Iterator[Fault]:
    if not isinstance(name, str) or len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        message = f"a letter, then letters, digits, - or _, at most {LONGEST_NAME} in all"
        yield Fault(f"{place}.name", f"{message}, got {shown(name)}")


def _faults_of_task(
    step: Mapping[str, Any], priority: Any, place: str, kinds: Collection[str]
) -> Iterator[Fault]:
    """What any task of this kind would be refused for."""
    kind = step.get("kind")
    if not isinstance(kind, str):
        yield Fault(f"{place}.kind", f"the name of a kind, got {shown(kind)}")
        kind = next(iter(kinds), "")
    elif kind == JOIN_KIND:
        yield Fault(f"{place}.kind", f"{JOIN_KIND} is the supervisor's own; give another kind")
    lock, weight = step.get("lock_key"), step.get("weight")
    task = NewTask(
        kind=kind,
        payload=None,
        priority=priority,
        estimate_seconds=step.get("estimate_seconds"),
        max_attempts=step.get("max_attempts"),
        lock_key=None if is_reference(lock) else lock,
        weight=1.0 if weight is None else weight,
    )
    for fault in check_batch([task], kinds, {}):
        at = fault.field if fault.field == "priority" else f"{place}.{fault.field}"
        yield Fault(at, f"{fault.message}, got {fault.value}")


def _faults_of_deadline(value: object, place: str) -> Iterator[Fault]:
    if value is not None and not is_seconds(value):
        message = f"give seconds from the start of the job, up to {LONGEST_ESTIMATE:,.0f} (30 days)"
        yield Fault(f"{place}.deadline_seconds", f"{message}, got {shown(value)}")


def _faults_of_needs(needs: object, place: str) -> Iterator[Fault]:
    if not isinstance(needs, list):
        yield Fault(place, f"a list of names of steps, got {shown(needs)}")
        return
    for index, need in enumerate(needs):
        at = f"{place}[{index}]"
        if isinstance(need, dict):
            yield from _unknown_fields(need, plans.NEED_FIELDS, at)
            on_dead = need.get("on_dead", OnDead.WAIT)
            if on_dead not in tuple(OnDead):
                message = f"give one of {', '.join(OnDead)}, got {shown(on_dead)}"
                yield Fault(f"{at}.on_dead", message)
        if not isinstance(need.get("on") if isinstance(need, dict) else need, str):
            yield Fault(at, f'the name of a step, or {{"on": name, "on_dead": ...}}: {shown(need)}')


def _faults_of_templates(
    step: Mapping[str, Any], place: str, kinds: Collection[str], check: PayloadCheck
) -> Iterator[Fault]:
    payload = step.get("payload", {})
    yield from _malformed(find_references(payload, f"{place}.payload"))
    if not has_references(payload):
        yield from _faults_of_payload(step.get("kind"), payload, place, check)
    if step.get("when") is not None:
        yield from _malformed(check_condition(step["when"], f"{place}.when"))
    yield from _malformed(find_references(step.get("lock_key"), f"{place}.lock_key"))
    yield from _faults_of_fan_out(step, place)
    if step.get("compensation") is not None:
        yield from _faults_of_compensation(step["compensation"], place, kinds, check)


def _malformed(found: Iterator[tuple[str, Reference | Fault]]) -> Iterator[Fault]:
    return (each for _, each in found if isinstance(each, Fault))


def _faults_of_payload(
    kind: object, payload: Any, place: str, check: PayloadCheck
) -> Iterator[Fault]:
    own = check_payload(payload)
    for fault in own:
        yield Fault(f"{place}.payload{fault.place[1:]}", fault.message)
    if not own and isinstance(kind, str) and (fault_of_schema := check(kind, payload)):
        yield Fault(f"{place}.{fault_of_schema.place}", fault_of_schema.message)


def _faults_of_fan_out(step: Mapping[str, Any], place: str) -> Iterator[Fault]:
    each, quorum = step.get("for_each"), step.get("quorum")
    if each is None:
        if quorum is not None:
            yield Fault(f"{place}.quorum", "only a step with for_each has a quorum")
        return
    if isinstance(each, list):
        if len(each) > plans.MOST_ITEMS:
            yield Fault(f"{place}.for_each", f"at most {plans.MOST_ITEMS:,} items")
    elif not has_references(each):
        message = f'a list, or a reference such as {{"$result": "split.rows"}}: {shown(each)}'
        yield Fault(f"{place}.for_each", message)
    yield from _malformed(find_references(each, f"{place}.for_each"))
    if quorum is None:
        return
    if isinstance(quorum, bool) or not isinstance(quorum, int) or quorum < 1:
        yield Fault(f"{place}.quorum", f"how many items must complete, 1 or more: {shown(quorum)}")
    elif isinstance(each, list) and quorum > len(each):
        yield Fault(f"{place}.quorum", f"more than the {len(each)} items that there are: {quorum}")


def _faults_of_compensation(
    value: Any, place: str, kinds: Collection[str], check: PayloadCheck
) -> Iterator[Fault]:
    at = f"{place}.compensation"
    kind = value.get("kind") if isinstance(value, dict) else value
    if not isinstance(kind, str):
        yield Fault(at, f'the name of a kind, or {{"kind": ..., "payload": ...}}: {shown(value)}')
        return
    if kind not in kinds:
        yield Fault(at, f"{unknown_kind(kind, kinds)}, got {shown(kind)}")
    if isinstance(value, dict):
        yield from _unknown_fields(value, plans.COMPENSATION_FIELDS, at)
        payload = value.get("payload")
        yield from _malformed(find_references(payload, f"{at}.payload"))
        if "payload" in value and not has_references(payload):
            yield from _faults_of_payload(kind, payload, at, check)
