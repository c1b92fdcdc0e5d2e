"""What the API takes and gives where it lists tasks."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final
from uuid import UUID

from ninja import Field, Schema
from pydantic import BeforeValidator

from tasks_app.core.literals import whole_number
from tasks_app.core.search.query_parsing import LONGEST
from tasks_app.core.states import Status
from tasks_app.store.reads.search.task_rows import Sort

MOST_LISTED: Final = 500
"""Tasks of one answer."""


def _plain(value: object) -> object:
    """Pydantic's own reader takes 1_0 and 10.0 for ten."""
    return whole_number(value) if isinstance(value, str) else value


class ListOrder(StrEnum):
    """The orders of ``Sort``, each the newest or greatest first; with a minus the other way."""

    AGE = Sort.AGE.value
    AGE_REVERSED = f"-{Sort.AGE}"
    PRIORITY = Sort.PRIORITY.value
    PRIORITY_REVERSED = f"-{Sort.PRIORITY}"
    ATTEMPTS = Sort.ATTEMPTS.value
    ATTEMPTS_REVERSED = f"-{Sort.ATTEMPTS}"
    DURATION = Sort.DURATION.value
    DURATION_REVERSED = f"-{Sort.DURATION}"


class ListIn(Schema):
    """What to list: the query as the search box takes it."""

    q: str = Field(
        "",
        description=(
            "A query such as `status:dead kind:mail -error:Timeout age:>1h payload.customer.id:42`."
        ),
        max_length=LONGEST,
    )
    sort: ListOrder = Field(
        ListOrder.AGE, description="The newest or greatest first; with a minus the other way."
    )
    limit: Annotated[int, BeforeValidator(_plain)] = Field(50, ge=1, le=MOST_LISTED)
    after: str | None = Field(None, description="`next` of the answer before.", max_length=100)


class TaskRowOut(Schema):
    """One task of a list; the whole of it is at its own address."""

    id: UUID
    kind: str
    status: Status
    key: str | None
    priority: int
    attempts: int
    max_attempts: int
    requeues: int
    worker: str | None = Field(description="Who holds it now.")
    job_id: UUID | None
    lock_key: str | None
    duration: float | None = Field(description="Seconds of its last attempt so far.")
    dead_reason: str | None
    error_type: str
    error: str = Field(description="The first line of its last error.")
    created_at: datetime
    run_at: datetime
    finished_at: datetime | None


class TaskListOut(Schema):
    """A page of tasks."""

    tasks: Sequence[TaskRowOut]
    next: str | None = Field(description="Give it as `after` for the next page; null at the end.")
    looked_back_to: datetime | None = Field(
        description=(
            "Only tasks submitted since then were looked at; sorted by age, the next page looks "
            "further. Null: every task that could match was."
        )
    )
