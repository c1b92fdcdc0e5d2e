"""Form fields for JSON that people type."""

import json
from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from tasks_app.core.literals import NotReadable, decimal_number, whole_number
from tasks_app.core.strict_json import JsonRefused, read_strict
from tasks_app.translation import translated


class WholeNumberField(forms.IntegerField):
    """A whole number in plain digits: Django's own takes 1_000 and 12.0."""

    def to_python(self, value: Any) -> Any:
        """Read it, or say what to give."""
        return _read(whole_number, value)


class NumberField(forms.FloatField):
    """A number in plain digits: Django's own takes 1_0, 1e5 and digits of any script."""

    def to_python(self, value: Any) -> Any:
        """Read it, or say what to give."""
        return _read(decimal_number, value)


def _read(reader: Callable[[str], float], value: Any) -> Any:
    if value is None or not isinstance(value, str):
        return value
    try:
        return reader(value.strip()) if value.strip() else None
    except NotReadable as error:
        told = translated(str(error))
        raise ValidationError(f"{told[:1].upper()}{told[1:]}.") from error


class LinesField(forms.CharField):
    """A list of texts, one a line."""

    widget = forms.Textarea(attrs={"rows": 4, "class": "vLargeTextField lines"})

    def prepare_value(self, value: Any) -> Any:
        """Write the list as lines; what was typed stays as it was typed."""
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        """Read the lines, without empty ones."""
        return [line.strip() for line in str(value or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Compare lists, not their spelling."""
        return bool((initial or []) != self.to_python(data))


class IndentedJSONField(forms.JSONField):
    """JSON over several lines; a fault is told with its line."""

    widget = forms.Textarea(
        attrs={"rows": 14, "class": "vLargeTextField json", "spellcheck": "false"}
    )

    def prepare_value(self, value: Any) -> Any:
        """Indent what is stored; what was typed stays as it was typed."""
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False)

    def to_python(self, value: Any) -> Any:
        """Read it, or say where it stops being JSON."""
        if not isinstance(value, str) or not value.strip():
            return super().to_python(value)
        try:
            return read_strict(value)
        except JsonRefused as refused:
            what = {"what": translated(refused.told)}
            raise ValidationError(_("Not JSON at %(what)s."), params=what) from refused
