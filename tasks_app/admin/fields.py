"""Form fields for JSON that people type."""

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _


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
            return json.loads(value)
        except json.JSONDecodeError as error:
            text = _("Not JSON at line %(line)s, column %(column)s: %(what)s.")
            where = {"line": error.lineno, "column": error.colno, "what": error.msg}
            raise ValidationError(text, params=where) from error
        except RecursionError as error:
            raise ValidationError(_("Nested too deep to be read.")) from error
