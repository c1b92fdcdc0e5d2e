"""Plans of jobs: named steps and what they need of one another, as people and programs write them.

A plan from outside is read by ``core.plan_checks``, which finds every fault of it; ``load_plan``
reads one that passed, from the record.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from tasks_app.core.drawing.levels import levels_of
from tasks_app.core.faults import Fault
from tasks_app.core.intake.payloads import PayloadLimits
from tasks_app.core.jobs.conditions import check_condition
from tasks_app.core.jobs.job_states import JobPolicy
from tasks_app.core.jobs.references import Reference, find_references, has_references
from tasks_app.core.states import OnDead

MOST_STEPS: Final = 500
MOST_ITEMS: Final = 10_000
"""Tasks that one ``for_each`` makes at most."""

LARGEST_FAN_OUT: Final = 16 * 1024 * 1024
"""Characters of all the payloads that one ``for_each`` makes, as ``preparation.length_of`` counts
them. They are checked and written in one transaction, which a leader that is replaced after ten
seconds must have time for: a second for as many long texts, or for a million values."""

PLAN_LIMITS: Final = PayloadLimits(max_bytes=1024 * 1024, max_depth=40, max_nodes=50_000)

PLAN_FIELDS: Final = ("name", "key", "priority", "on_dead", "steps", "result")
STEP_FIELDS: Final = (
    "name",
    "kind",
    "payload",
    "depends_on",
    "when",
    "for_each",
    "quorum",
    "compensation",
    "estimate_seconds",
    "max_attempts",
    "lock_key",
    "weight",
    "deadline_seconds",
)
NEED_FIELDS: Final = ("on", "on_dead")
COMPENSATION_FIELDS: Final = ("kind", "payload")

PayloadCheck = Callable[[str, Any], Fault | None]
"""Kind and payload to what the kind's schema says against it; its place begins with "payload"."""


@dataclass(frozen=True, slots=True)
class Need:
    """A step that must have ended before; its result is the input of its name."""

    on: str
    on_dead: OnDead = OnDead.WAIT


@dataclass(frozen=True, slots=True)
class Compensation:
    """The kind that undoes a completed step; without a template it gets ``undo_payload``."""

    kind: str
    template: Any = None
    has_template: bool = False


@dataclass(frozen=True)
class Step:
    """One step. ``payload`` is a template; ``for_each`` a list, or a reference to one.

    ``quorum`` items must complete where there is a ``for_each``; None means all of them.
    ``lock_key`` is a text or a reference to one; ``deadline_seconds`` count from the submission of
    the job.
    """

    name: str
    kind: str
    payload: Any = field(default_factory=dict)
    declared: Sequence[Need] = ()
    when: Mapping[str, Any] | None = None
    for_each: Any = None
    quorum: int | None = None
    compensation: Compensation | None = None
    estimate_seconds: float | None = None
    max_attempts: int | None = None
    lock_key: Any = None
    weight: float | None = None
    deadline_seconds: float | None = None

    @cached_property
    def needs(self) -> Sequence[Need]:
        """What it waits for: what it declares, and the steps whose results it refers to."""
        declared = {need.on: need for need in self.declared}
        for reference in self.references:
            if reference.step is not None:
                declared.setdefault(reference.step, Need(reference.step))
        return tuple(declared.values())

    @cached_property
    def references(self) -> Sequence[Reference]:
        """Every reference that must be replaced before it can be handed out."""
        found = [
            *find_references(self.payload, ""),
            *find_references(self.for_each, ""),
            *find_references(self.lock_key, ""),
            *(check_condition(self.when, "") if self.when is not None else ()),
        ]
        return [each for _, each in found if isinstance(each, Reference)]

    @property
    def is_join(self) -> bool:
        """Whether it is a task for each item of a list, and a join."""
        return self.for_each is not None

    @property
    def needs_preparation(self) -> bool:
        """Whether the supervisor must look at results before it can be handed out."""
        conditional = self.is_join or self.when is not None
        return conditional or has_references([self.payload, self.lock_key])


@dataclass(frozen=True)
class Plan:
    """A whole job. ``result`` is the template of its result where ``has_result``."""

    steps: Sequence[Step]
    name: str = ""
    key: str | None = None
    priority: int = 0
    policy: JobPolicy = JobPolicy.ASK
    result: Any = None
    has_result: bool = False

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where each step stands."""
        return {step.name: place for place, step in enumerate(self.steps)}

    @cached_property
    def dependents(self) -> Mapping[str, Sequence[tuple[Step, OnDead]]]:
        """For each step those that wait for it, and how."""
        found: dict[str, list[tuple[Step, OnDead]]] = {step.name: [] for step in self.steps}
        for step in self.steps:
            for need in step.needs:
                found[need.on].append((step, need.on_dead))
        return found

    @cached_property
    def tolerated(self) -> frozenset[str]:
        """The steps whose failure the plan provides for: every step after them can go on without.

        >>> a, b = Step("a", "k"), Step("b", "k", declared=[Need("a", OnDead.CONTINUE)])
        >>> sorted(Plan([a, b]).tolerated)
        ['a']
        """
        found: set[str] = set()
        # Dependents first, so that a failure handed on with "fail" is judged where it ends.
        for step in reversed(self.in_order):
            after = self.dependents[step.name]
            if after and all(
                on_dead is OnDead.CONTINUE or (on_dead is OnDead.FAIL and each.name in found)
                for each, on_dead in after
            ):
                found.add(step.name)
        return frozenset(found)

    @cached_property
    def in_order(self) -> Sequence[Step]:
        """The steps, each after all that it needs; by their place in the plan where free."""
        steps = {step.name: step for step in self.steps}
        needs = {step.name: [need.on for need in step.needs] for step in self.steps}
        return tuple(steps[name] for name in levels_of(needs))


def deadline_of(step: Step, began: datetime) -> datetime | None:
    """Until when a step of a job submitted at ``began`` must have ended.

    >>> deadline_of(Step("a", "k", deadline_seconds=60), datetime(2030, 1, 1)).isoformat()
    '2030-01-01T00:01:00'
    """
    if step.deadline_seconds is None:
        return None
    return began + timedelta(seconds=step.deadline_seconds)


def undo_payload(step: str, payload: Any, result: Any) -> dict[str, Any]:
    """What a compensation is told where its plan says nothing else."""
    return {"step": step, "payload": payload, "result": result}


def load_plan(value: Mapping[str, Any]) -> Plan:
    """Read a plan that was checked before.

    >>> load_plan({"steps": [{"name": "a", "kind": "k", "depends_on": ["b"]}]}).steps[0].needs
    (Need(on='b', on_dead=<OnDead.WAIT: 'wait'>),)
    """
    return Plan(
        steps=tuple(_load_step(step) for step in value["steps"]),
        name=value.get("name") or "",
        key=value.get("key"),
        priority=value.get("priority", 0),
        policy=JobPolicy(value.get("on_dead", JobPolicy.ASK)),
        result=value.get("result"),
        has_result="result" in value,
    )


def _load_step(value: Mapping[str, Any]) -> Step:
    return Step(
        name=value["name"],
        kind=value["kind"],
        payload=value.get("payload", {}),
        declared=tuple(_load_need(need) for need in value.get("depends_on") or ()),
        when=value.get("when"),
        for_each=value.get("for_each"),
        quorum=value.get("quorum"),
        compensation=_load_compensation(value.get("compensation")),
        estimate_seconds=value.get("estimate_seconds"),
        max_attempts=value.get("max_attempts"),
        lock_key=value.get("lock_key"),
        weight=value.get("weight"),
        deadline_seconds=value.get("deadline_seconds"),
    )


def _load_need(value: str | Mapping[str, Any]) -> Need:
    if isinstance(value, str):
        return Need(value)
    return Need(value["on"], OnDead(value.get("on_dead", OnDead.WAIT)))


def _load_compensation(value: str | Mapping[str, Any] | None) -> Compensation | None:
    if value is None:
        return None
    if isinstance(value, str):
        return Compensation(value)
    return Compensation(value["kind"], value.get("payload"), "payload" in value)
