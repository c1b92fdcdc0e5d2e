"""What the API takes and gives, field by field; what is not listed cannot be set."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from ninja import Field, Schema
from pydantic import (
    AwareDatetime,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    PlainValidator,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    WithJsonSchema,
)

from tasks_app.core.intake import new_tasks
from tasks_app.core.literals import INSTANT, instant
from tasks_app.core.states import EdgeState, OnDead, Outcome, Status
from tasks_app.services.intake.submission import Dependency, KeyRef, NewTask

MOST_TASKS: Final = 10_000
"""Of one request."""


def _instant(value: object) -> datetime:
    """Pydantic's own reader takes seconds since 1970 and dates without a zone."""
    if not isinstance(value, str):
        raise ValueError(f"give {INSTANT}, as text")
    return instant(value)


def _reference(value: object) -> UUID | KeyRef | int:
    """A task's id, the index of an item of this request, or a kind and key."""
    wanted = 'give a task\'s id, the index of an item of this request, or {"kind": ..., "key": ...}'
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return UUID(value)
        except ValueError as unreadable:
            raise ValueError(wanted) from unreadable
    if isinstance(value, dict) and set(value) == {"kind", "key"}:
        kind, key = value["kind"], value["key"]
        if isinstance(kind, str) and isinstance(key, str):
            return KeyRef(kind, key)
    raise ValueError(wanted)


Reference = Annotated[
    UUID | KeyRef | int,
    PlainValidator(_reference),
    WithJsonSchema(
        {
            "description": "The task waited for: its id, its index in this request from 0, "
            "or its kind and key.",
            "anyOf": [
                {"type": "string", "format": "uuid"},
                {"type": "integer", "minimum": 0},
                {
                    "type": "object",
                    "required": ["kind", "key"],
                    "properties": {"kind": {"type": "string"}, "key": {"type": "string"}},
                    "additionalProperties": False,
                },
            ],
        }
    ),
]


class Strict(Schema):
    """Refuses fields that it does not have."""

    model_config = ConfigDict(extra="forbid")


class DependencyIn(Strict):
    """A task to wait for; its result reaches the worker as the input ``name``."""

    on: Reference
    name: StrictStr | None = Field(
        None,
        description="Name of the input; without it, the kind waited for.",
        json_schema_extra={"maxLength": new_tasks.LONGEST_NAME},
    )
    on_dead: OnDead = Field(
        OnDead.WAIT,
        description="When that task is DEAD: wait for a human, fail with it, or continue without.",
    )


class TaskIn(Strict):
    """One task to submit. Bounds are checked at the door, with every fault named at once."""

    kind: StrictStr
    payload: Any = Field(description="Any JSON of up to 256 KiB that the kind's schema allows.")
    key: StrictStr | None = Field(
        None,
        description="Idempotency key: a second submission with it returns the first one's task.",
        json_schema_extra={"minLength": 1, "maxLength": new_tasks.LONGEST_KEY},
    )
    priority: StrictInt = Field(
        0,
        description="Higher is sooner; each step is worth a settable head start in the queue.",
        json_schema_extra={
            "minimum": -new_tasks.HIGHEST_PRIORITY,
            "maximum": new_tasks.HIGHEST_PRIORITY,
        },
    )
    estimate_seconds: StrictFloat | None = Field(
        None, description="Expected run time at skill 1; without it, the kind's."
    )
    max_attempts: StrictInt | None = Field(None, description="Without it, the kind's.")
    run_at: Annotated[AwareDatetime, BeforeValidator(_instant)] | None = Field(
        None, description="Earliest start, with its time zone."
    )
    depends_on: list[DependencyIn] = Field(
        default_factory=list, description="Tasks that must be COMPLETED first."
    )
    lock_key: StrictStr | None = Field(
        None,
        description="What it needs for itself alone: one task with this key is in work at a time.",
        json_schema_extra={"minLength": 1, "maxLength": new_tasks.LONGEST_LOCK},
    )
    weight: StrictFloat = Field(
        1.0,
        description="Its share of the limit of its kind.",
        json_schema_extra={"exclusiveMinimum": 0, "maximum": new_tasks.HIGHEST_WEIGHT},
    )
    deadline_at: Annotated[AwareDatetime, BeforeValidator(_instant)] | None = Field(
        None,
        description="An instant with its time zone; a task that has not ended by then is DEAD.",
    )

    def task(self, key: str | None = None) -> NewTask:
        """The task as the service takes it; ``key`` stands in for one that is not given."""
        return NewTask(
            kind=self.kind,
            payload=self.payload,
            key=key if self.key is None else self.key,
            priority=self.priority,
            estimate_seconds=self.estimate_seconds,
            max_attempts=self.max_attempts,
            run_at=self.run_at,
            depends_on=[Dependency(d.on, d.name, d.on_dead) for d in self.depends_on],
            lock_key=self.lock_key,
            weight=self.weight,
            deadline_at=self.deadline_at,
        )


class BatchIn(Strict):
    """Up to 10,000 tasks, submitted all or none."""

    tasks: list[TaskIn] = Field(min_length=1, max_length=MOST_TASKS)


def _which(value: object) -> str:
    return "batch" if isinstance(value, dict) and "tasks" in value else "task"


TaskOrBatch = Annotated[
    Annotated[TaskIn, Tag("task")] | Annotated[BatchIn, Tag("batch")], Discriminator(_which)
]


class SubmittedOut(Schema):
    """One task of the answer, in the order of the request."""

    id: UUID
    created: bool = Field(description="False: its key was on record, and this is that task.")


class SubmitOut(Schema):
    """The tasks in the order of the request."""

    tasks: list[SubmittedOut]
    created: int
    existing: int


class FaultOut(Schema):
    """What is wrong where: ``index`` of the item, null where no single item is at fault."""

    index: int | None
    field: str
    value: str
    message: str


class FaultsOut(Schema):
    """Nothing was done; up to 1,000 of the ``fault_count`` faults, the first one in ``detail``."""

    detail: str
    fault_count: int
    faults: list[FaultOut]


class ProblemOut(Schema):
    """Why the request was refused."""

    detail: str


class AttemptOut(Schema):
    """One lease of the task and how it ended; ``number`` begins anew after a requeue."""

    number: int
    outcome: Outcome
    worker: str | None
    assigned_at: datetime
    started_at: datetime | None
    ended_at: datetime
    error: Any


class WaitOut(Schema):
    """A task waited for."""

    on: UUID
    name: str
    on_dead: OnDead
    state: EdgeState


class TaskOut(Schema):
    """One task as the record shows it now, with its latest 200 attempts, oldest first."""

    id: UUID
    kind: str
    status: Status
    key: str | None
    priority: int
    payload: Any
    result: Any
    error: Any
    dead_reason: str | None
    attempts: Sequence[AttemptOut]
    more_attempts: bool = Field(description="True: there are older ones than those listed.")
    attempt_count: int = Field(description="Of this incarnation; a requeue starts anew.")
    max_attempts: int
    requeues: int
    depends_on: Sequence[WaitOut]
    lock_key: str | None
    weight: float
    created_at: datetime
    run_at: datetime
    deadline_at: datetime | None
    finished_at: datetime | None


class KindOut(Schema):
    """One kind of work."""

    name: str
    description: str
    paused: bool
    payload_schema: Any
    estimate_seconds: float
    timeout_seconds: float
    max_attempts: int
