"""Turning faults of settings into messages beside their fields."""

from collections.abc import Iterable

from django.forms import BaseForm
from django.utils.translation import gettext as _

from tasks_app.core.faults import Fault
from tasks_app.translation import translated


def add_faults(form: BaseForm, faults: Iterable[Fault]) -> None:
    """Show each fault beside the field whose name its place begins with."""
    # A fault takes its field out of the data that the rest is judged by: all are found first.
    for fault in list(faults):
        field, bracket, rest = fault.place.partition("[")
        told = translated(fault.message)
        said = f"{told[:1].upper()}{told[1:]}."
        if bracket:
            said = _("Line %(line)s: %(said)s") % {"line": int(rest[:-1]) + 1, "said": said}
        form.add_error(field if field in form.fields else None, said)
