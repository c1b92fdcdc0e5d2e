"""Turning faults of settings into messages beside their fields."""

from collections.abc import Iterable

from django.forms import BaseForm

from tasks_app.core.faults import Fault


def add_faults(form: BaseForm, faults: Iterable[Fault]) -> None:
    """Show each fault beside the field whose name its place begins with."""
    # A fault takes its field out of the data that the rest is judged by: all are found first.
    for fault in list(faults):
        field, bracket, rest = fault.place.partition("[")
        line = f"Line {int(rest[:-1]) + 1}: " if bracket else ""
        form.add_error(field if field in form.fields else None, f"{line}{fault.message}.")
