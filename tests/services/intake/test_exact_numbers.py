"""Numbers are what was submitted: searched, compared, shown, edited and referred to exactly."""

import json
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.utils.html import escape

from tasks_app.core.actions.json_changes import list_changes
from tasks_app.core.drawing.result_forms import make_form, read_form
from tasks_app.core.jobs.conditions import holds
from tasks_app.core.jobs.references import Scope, substitute
from tasks_app.core.literals import decimal_number, whole_number
from tasks_app.management.column_mapping import RowMapping, RowRefused, parse_field
from tasks_app.models import Task
from tasks_app.services.actions.payload_edits import edit_and_requeue
from tasks_app.services.intake.payload_schemas import PayloadSchema
from tasks_app.services.intake.submission import submit
from tasks_app.services.people.people import Actor, Role
from tests.floor import Floor

BIG = 2**53 + 1
"""The first whole number that no double is."""

NUMBERS = (BIG, -BIG, 2**63, 10**300 + 1)
OTTO = Actor("otto", role=Role.OPERATOR)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_reaches_the_worker_and_comes_back_as_it_was(floor: Floor, number: int) -> None:
    floor.worker("w1")
    task = submitted(floor, {"n": number})
    floor.round()
    (claimed,) = floor.claim("w1")
    assert claimed.payload == {"n": number}
    floor.complete("w1", claimed, {"n": number})
    assert Task.objects.get(id=task).result == {"n": number}


@pytest.mark.parametrize("number", NUMBERS)
def test_pages_files_and_the_api_show_each_digit(
    floor: Floor, admin_client: Client, number: int
) -> None:
    task = submitted(floor, {"n": number})
    assert str(number) in admin_client.get(f"/tasks/{task}/").content.decode()
    assert admin_client.get(f"/tasks/{task}/payload.json").json() == {"n": number}


def test_an_edit_of_another_field_leaves_a_large_number_alone(
    floor: Floor, admin_client: Client
) -> None:
    task = dead(floor, {"n": BIG, "to": "a"})
    page = admin_client.get(f"/tasks/{task}/edit/").content.decode()
    assert escape(json.dumps({"n": BIG, "to": "a"}, indent=2)) in page
    edited = edit_and_requeue(task, 0, json.dumps({"n": BIG, "to": "b"}), OTTO)
    assert [change.place for change in edited.changes] == ["$.to"]
    assert Task.objects.get(id=task).payload == {"n": BIG, "to": "b"}


def test_a_change_by_one_is_a_change() -> None:
    (change,) = list_changes({"n": BIG - 1}, {"n": BIG})
    assert (change.before, change.after) == (BIG - 1, BIG)


def test_conditions_and_references_tell_neighbours_apart() -> None:
    scope = Scope({"a": {"n": BIG}, "b": {"n": BIG - 1}, "c": {"n": float(BIG - 1)}})
    ref = {"$result": "a.n"}
    assert substitute(ref, scope) == BIG
    assert holds({**ref, "greater": {"$result": "b.n"}}, scope)
    assert holds({**ref, "greater": {"$result": "c.n"}}, scope)
    assert holds({**ref, "equals": BIG}, scope)
    assert not holds({**ref, "equals": BIG - 1}, scope)
    assert not holds({**ref, "in": [BIG - 1, float(BIG - 1)]}, scope)


@pytest.mark.parametrize("keyword", ["const", "enum", "maximum", "exclusiveMaximum", "minimum"])
def test_schemas_tell_neighbours_apart(keyword: str) -> None:
    bound = BIG - 1 if keyword == "maximum" else BIG if keyword != "minimum" else BIG + 1
    wrong = BIG if keyword in ("maximum", "exclusiveMaximum", "minimum") else BIG - 1
    schema = PayloadSchema(
        {"properties": {"n": {keyword: [bound] if keyword == "enum" else bound}}}
    )
    assert schema.first_fault({"n": wrong}) is not None


@pytest.mark.parametrize(
    ("divisor", "good", "bad"),
    [(0.01, 19.99, 19.999), (0.1, 0.3, 0.35), (7, 7 * BIG, 7 * BIG + 1), (0.5, BIG, 0.75)],
)
def test_multiples_are_those_of_decimal_digits(divisor: float, good: float, bad: float) -> None:
    schema = PayloadSchema({"multipleOf": divisor})
    assert schema.first_fault(good) is None
    assert schema.first_fault(bad) is not None


def test_columns_and_form_fields_keep_each_digit_or_refuse() -> None:
    form = make_form({"type": "object", "properties": {"n": {"type": "number"}}})
    mapping = RowMapping("mail", [parse_field("n:number=N")])
    for text, number in ((str(BIG), BIG), ("2.50", 2.5), ("7", 7)):
        assert read_form(form, {"n": [text]}) == ({"n": number}, {})
        assert mapping.task({"N": text}).payload == {"n": number}
    for text in ("12345678901234567.89", "1e3", "1e999", "1_000", "inf", "0x10", "\u0661"):
        assert read_form(form, {"n": [text]})[1].keys() == {"n"}
        with pytest.raises(RowRefused):
            mapping.task({"N": text})


@pytest.mark.parametrize("read", [whole_number, decimal_number])
def test_numbers_are_decimal_digits_alone(read: Any) -> None:
    assert [read(text) for text in ("7", "-7", "007", f"{BIG}")] == [7, -7, 7, BIG]
    for text in ("", " 7", "+7", "1_0", "\u0661", "0x1", "nan", "1 0", "--1", "1" * 401):
        with pytest.raises(ValueError, match="decimal digits"):
            read(text)


def submitted(floor: Floor, payload: dict[str, Any]) -> UUID:
    floor.kind("job")
    return submit("job", payload)


def dead(floor: Floor, payload: dict[str, Any]) -> UUID:
    floor.worker("w1")
    task = submitted(floor, payload)
    floor.round()
    floor.fail("w1", floor.claim("w1")[0], permanent=True)
    return task
