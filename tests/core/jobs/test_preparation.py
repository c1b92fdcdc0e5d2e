"""Steps that are filled in: how much a fan-out may come to."""

from tasks_app.core.faults import Fault
from tasks_app.core.jobs.plans import Step
from tasks_app.core.jobs.preparation import FannedOut, Unfit, prepare_step
from tasks_app.core.jobs.references import Scope


def test_a_fan_out_may_be_long_but_neither_too_long_nor_of_too_many_values() -> None:
    assert isinstance(_fanned_out(2000, "x" * 8000), FannedOut)
    assert "of 2,000 items have payloads of more than" in _reason(_fanned_out(2000, "x" * 8380))
    assert isinstance(_fanned_out(2000, [7] * 480), FannedOut)
    assert "of 2,000 items have payloads of more than" in _reason(_fanned_out(2000, [7] * 520))


def test_what_is_no_list_is_shown_as_json() -> None:
    step = Step("each", "k", for_each={"$result": "read"})
    prepared = prepare_step(step, Scope({"read": True}), _no_fault)
    assert _reason(prepared) == "for_each: a list is wanted, got true"


def _fanned_out(count: int, shared: object) -> object:
    step = Step("each", "k", {"all": {"$result": "read"}}, for_each=[0] * count)
    return prepare_step(step, Scope({"read": shared}), _no_fault)


def _reason(prepared: object) -> str:
    assert isinstance(prepared, Unfit)
    return prepared.reason


def _no_fault(_kind: str, _payload: object) -> Fault | None:
    return None
