"""Turning the faults that core and the schema library find into messages beside their fields."""

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.forms import BaseForm

from tasks_app.core.faults import Fault
from tasks_app.services.payload_schemas import schema_faults


def check_schema(schema: Any) -> None:
    """Refuse what is no JSON Schema, naming each place in it. Raises ValidationError."""
    faults = [] if schema is None else schema_faults(schema)
    if faults:
        raise ValidationError([f"No valid JSON Schema: at {fault}." for fault in faults])


def add_faults(form: BaseForm, faults: Iterable[Fault]) -> None:
    """Show each fault beside the field whose name its place begins with."""
    for fault in faults:
        field, bracket, rest = fault.place.partition("[")
        line = f"Line {int(rest[:-1]) + 1}: " if bracket else ""
        form.add_error(field if field in form.fields else None, f"{line}{fault.message}.")
