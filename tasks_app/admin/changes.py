"""Each change of configuration stands in the audit too, beside the history that Django keeps."""

from typing import Any

from django.db.models import Model
from django.http import HttpRequest

from tasks_app.admin.acting import actor_of
from tasks_app.admin.bases import AnyAdminBase
from tasks_app.services.configuration import note_change


class AuditsChanges(AnyAdminBase):
    """Writes to the audit in the transaction of the change itself."""

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Audit what is new."""
        self._note(request, "add", obj, [])
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Audit which fields changed, as the form calls them; a save of nothing is no act."""
        parts = message if isinstance(message, list) else []
        fields = [name for part in parts for name in part.get("changed", {}).get("fields", [])]
        if fields:
            self._note(request, "change", obj, fields)
        return super().log_change(request, obj, message)

    def _note(self, request: HttpRequest, verb: str, obj: Model, fields: list[str]) -> None:
        note_change(actor_of(request), f"{verb} {self.opts.verbose_name}", str(obj)[:200], fields)
