"""What the API takes and gives about jobs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from ninja import Field, Schema
from pydantic import WithJsonSchema

from tasks_app.core.jobs.job_states import JobPolicy, JobStatus, Role
from tasks_app.core.jobs.plans import MOST_STEPS
from tasks_app.core.states import OnDead, Status

# The plan is checked whole at the door, where every fault of it is found at once; this document
# says its outline.
PlanIn = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "description": "A plan of named steps; docs/jobs.md has every field of it.",
            "required": ["steps"],
            "properties": {
                "name": {"type": "string"},
                "key": {"type": "string"},
                "priority": {"type": "integer"},
                "on_dead": {"enum": list(JobPolicy)},
                "result": {},
                "steps": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": MOST_STEPS,
                    "items": {
                        "type": "object",
                        "required": ["name", "kind"],
                        "properties": {
                            "name": {"type": "string"},
                            "kind": {"type": "string"},
                            "payload": {},
                            "depends_on": {
                                "type": "array",
                                "items": {
                                    "anyOf": [
                                        {"type": "string"},
                                        {
                                            "type": "object",
                                            "required": ["on"],
                                            "properties": {
                                                "on": {"type": "string"},
                                                "on_dead": {"enum": list(OnDead)},
                                            },
                                        },
                                    ]
                                },
                            },
                            "when": {"type": "object"},
                            "for_each": {},
                            "quorum": {"type": "integer", "minimum": 1},
                            "compensation": {},
                            "estimate_seconds": {"type": "number"},
                            "max_attempts": {"type": "integer"},
                            "lock_key": {"type": ["string", "object"]},
                            "weight": {"type": "number", "exclusiveMinimum": 0},
                            "deadline_seconds": {"type": "number", "exclusiveMinimum": 0},
                        },
                    },
                },
            },
        }
    ),
]


class JobSubmittedOut(Schema):
    """The job of the plan."""

    id: UUID
    created: bool = Field(description="False: its key was on record, and this is that job.")


class StepOut(Schema):
    """One step; counts are of tasks by status."""

    name: str
    kind: str
    task_id: UUID
    status: Status
    items: Mapping[str, int] = Field(description="Of a step with for_each.")
    compensations: Mapping[str, int]


class DecisionOut(Schema):
    """What a human decides: about a DEAD task, or (reason "asked") by doing a step of people."""

    task_id: UUID
    step: str
    role: Role
    reason: str
    message: str


class JobOut(Schema):
    """One job as the record shows it now."""

    id: UUID
    name: str
    key: str | None
    status: JobStatus
    paused: bool
    cancel_asked: bool
    on_dead: JobPolicy
    progress: Mapping[str, int] = Field(description="All its tasks by status.")
    steps: Sequence[StepOut]
    waits_for: Sequence[DecisionOut] = Field(
        description="Up to 100 DEAD tasks and 100 steps of people."
    )
    more_waits: bool = Field(description="True: it waits for more than `waits_for` names.")
    result: Any
    submitted_by: str
    created_at: datetime
    finished_at: datetime | None
