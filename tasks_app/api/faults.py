"""Faults as the API answers with them, those of types like those of the door."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ninja import NinjaAPI
from ninja.errors import ValidationError, ValidationErrorContext

from tasks_app.api.schemas import FaultOut, FaultsOut
from tasks_app.core.intake.new_tasks import TaskFault, shown

MOST_FAULTS: Final = 1000
"""Of one answer; their number is told in full."""


class FaultNamingAPI(NinjaAPI):
    """Tells faults of types by item and field, where ninja tells pydantic's own places."""

    def validation_error_from_error_contexts(
        self, error_contexts: list[ValidationErrorContext[Any]]
    ) -> ValidationError:
        """Every fault of every part of the request."""
        return ValidationError(
            [
                fault_of(error).dict()
                for context in error_contexts
                for error in context.pydantic_validation_error.errors(include_url=False)
            ]
        )


def fault_of(error: Any) -> FaultOut:
    """Pydantic's error as a fault."""
    index, field = _place(list(error["loc"]))
    message = {
        "extra_forbidden": "there is no such field, or it cannot be set",
        "missing": "required",
        "too_long": "too many; send them in several requests",
    }.get(error["type"], error["msg"].removeprefix("Value error, "))
    return FaultOut(index=index, field=field, value=shown(error["input"]), message=message)


def _place(steps: list[str | int]) -> tuple[int | None, str]:
    """Item and field; ``body``, its variant and ``wanted`` are ninja's and pydantic's own steps."""
    index: int | None = None
    if steps[:1] == ["wanted"] and len(steps) > 1:
        steps = steps[1:]
    if steps[:1] == ["body"]:
        steps = steps[1:]
        variant = steps[0] if steps else None
        steps = steps[1:]
        if variant == "task":
            index = 0
        elif steps[:1] == ["tasks"] and len(steps) > 1 and isinstance(steps[1], int):
            index, steps = steps[1], steps[2:]
    field = ""
    for step in steps:
        field += f"[{step}]" if isinstance(step, int) else f".{step}"
    return index, field.removeprefix(".")[:200] or "body"


def answer(faults: Sequence[TaskFault]) -> FaultsOut:
    """The faults that the door found."""
    told = [
        FaultOut(index=f.index, field=f.field, value=f.value, message=f.message) for f in faults
    ]
    return counted(told)


def counted(faults: Iterable[FaultOut]) -> FaultsOut:
    """Up to ``MOST_FAULTS`` faults, and how many there are."""
    every = list(faults)
    first = every[0]
    where = "" if first.index is None else f"item {first.index}: "
    return FaultsOut(
        detail=f"{where}{first.field}: {first.message}",
        fault_count=len(every),
        faults=every[:MOST_FAULTS],
    )
