"""What the API takes and gives about acts."""

from typing import Annotated, Literal
from uuid import UUID

from ninja import Field
from pydantic import AfterValidator, StrictStr

from tasks_app.api.schemas import MOST_TASKS, Strict
from tasks_app.core.actions.bulks import BulkAction, BulkState
from tasks_app.core.intake.new_tasks import LONGEST_NAME, fault_of_text

LONGEST_REASON = 500
LONGEST_QUERY = 2000
LONGEST_BULK_KEY = 64
"""The width of the column."""


def _storable(value: str) -> str:
    if value and (fault := fault_of_text(value, LONGEST_QUERY)):
        raise ValueError(fault)
    return value


Text = Annotated[StrictStr, AfterValidator(_storable)]


class ReasonIn(Strict):
    """Why, for the audit."""

    reason: Text = Field("", max_length=LONGEST_REASON, description="Why, for the audit.")


class KindActIn(ReasonIn):
    """The kind that is meant."""

    kind: Text = Field(min_length=1, max_length=LONGEST_NAME)


class WorkerActIn(ReasonIn):
    """The worker that is meant."""

    worker: Text = Field(
        min_length=1, max_length=LONGEST_NAME, description="Its id, or the name of the live one."
    )


class CancelIn(ReasonIn):
    """The tasks to cancel."""

    ids: list[UUID] = Field(min_length=1, max_length=MOST_TASKS)


class BulkIn(ReasonIn):
    """What to do with whatever a query finds."""

    action: Literal[BulkAction.CANCEL, BulkAction.REQUEUE, BulkAction.DISMISS]
    query: Text = Field(
        min_length=1,
        max_length=LONGEST_QUERY,
        description="As on the page of tasks, such as kind:draft age:>1h.",
    )
    key: Text | None = Field(
        None,
        min_length=1,
        max_length=LONGEST_BULK_KEY,
        description="A second request with the same key gets the bulk that the first one began.",
    )


class ActOut(Strict):
    """Whether anything changed: false where it was so already, or could not be any more."""

    changed: bool


class RefusalOut(Strict):
    """A task that was left alone, and why."""

    id: UUID
    reason: str


class CancelOut(Strict):
    """``asked`` are running: each is CANCELLED when its worker lets go."""

    cancelled: list[UUID]
    asked: list[UUID]
    refused: list[RefusalOut]


class BulkOut(Strict):
    """A bulk: ``moved`` of the ``dealt_with`` were touched, the others refused."""

    id: UUID | None = None
    action: BulkAction
    state: BulkState | None = None
    total: int = 0
    dealt_with: int = 0
    moved: int = 0
    ended: str = Field(default="", description="Why it ended where it did, in one sentence.")
