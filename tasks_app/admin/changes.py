"""Forms of configuration: preview before a save, history with before and after, and revert."""

from collections.abc import Mapping
from typing import Any, Final

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import FloatField, IntegerField, Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _

from tasks_app.admin.acting import actor_of
from tasks_app.admin.fields import NumberField, WholeNumberField
from tasks_app.admin.stale import KnowsWhatItShowed, RefusesStale
from tasks_app.services.people.people import may_administer
from tasks_app.services.settings.configuration import (
    SettingsInvalid,
    note_change,
    preview_revert,
    revert,
)
from tasks_app.services.settings.configuration_versions import version_of
from tasks_app.services.settings.settings_previews import preview
from tasks_app.services.settings.settings_sections import Section, section_of
from tasks_app.store.reads.settings.settings_history import find_act, list_acts

PREVIEW: Final = "_preview"
SHOWN: Final = "_shown"
"""Of the page of a revert: the state on which it told what would change."""
LONGEST_REASON: Final = 300


class Previewed(KnowsWhatItShowed):
    """A form that is checked and shown again, not saved, when a preview is asked for."""

    def is_valid(self) -> bool:
        """Whether it may be saved."""
        return super().is_valid() and PREVIEW not in self.data


class Configures(RefusesStale):
    """Audits each change in its own transaction, previews it, lists and takes back what was."""

    change_form_template = "admin/settings_form.html"
    formfield_overrides = {
        IntegerField: {"form_class": WholeNumberField},
        FloatField: {"form_class": NumberField},
    }

    @property
    def section(self) -> Section:
        """The part of the configuration that this model is."""
        section = section_of(self.model)
        assert section is not None, "only what a section holds is registered with this class"
        return section

    def entry_name(self, entry: Model) -> str:
        """What the section calls an entry."""
        return str(entry.pk)

    def audit_subject(self, entry: Model) -> str:
        """What the audit calls an entry."""
        return self.section.subject(self.entry_name(entry))

    def wanted(self, form: Any) -> dict[str, Any]:
        """The settings that a form would save."""
        return self.section.values(form.instance)

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        """Save, and keep what was there before for the audit."""
        form.before = self.section.find(self.entry_name(obj)) if change else None
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Audit what was there before and after, once all of it is saved."""
        super().save_related(request, form, formsets, change)
        name = self.entry_name(form.instance)
        self.note(request, name, (form.before, self.section.find(name)))

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        """Delete, and audit what was there."""
        name = self.entry_name(obj)
        before = self.section.find(name)
        super().delete_model(request, obj)
        self.note(request, name, (before, None))

    def note(
        self,
        request: HttpRequest,
        name: str,
        change: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None],
    ) -> None:
        """Write to the audit, with the reason that the form was given."""
        reason = request.POST.get("_reason", "").strip()[:LONGEST_REASON]
        section = self.section
        note_change(actor_of(request), section.noun, section.subject(name), change, reason=reason)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show the form; with what its change would do, where that was asked."""
        form, entry = context["adminform"].form, context["original"]
        if PREVIEW in request.POST and entry is not None and form.is_bound and not form.errors:
            name = self.entry_name(entry)
            before, after = self.section.find(name) or {}, self.wanted(form)
            context["preview"] = preview(self.section, name, before, after)
        context["reason"] = request.POST.get("_reason", "")
        return super().render_change_form(request, context, *args, **kwargs)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Who changed which setting from what to what, the newest first."""
        entry = self.get_object(request, unquote(object_id))
        if entry is None:
            missing = _("There is no %(noun)s %(name)s.")
            raise Http404(missing % {"noun": self.section.noun, "name": unquote(object_id)})
        if not self.has_view_or_change_permission(request, entry):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": _("History of %(entry)s") % {"entry": entry},
            "opts": self.opts,
            "object": entry,
            "acts": list_acts(self.section.noun, self.section.subject(self.entry_name(entry))),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/settings_history.html", context)

    def get_urls(self) -> list[URLPattern]:
        """The address of a revert beside Django's own."""
        name = f"{self.opts.app_label}_{self.opts.model_name}_revert"
        view = self.admin_site.admin_view(self.revert_view)
        return [path("revert/<int:act_id>/", view, name=name), *super().get_urls()]

    def revert_view(self, request: HttpRequest, act_id: int) -> HttpResponse:
        """Show what taking a change back would do (GET), or do it (POST)."""
        act = find_act(act_id)
        if act is None or act.noun != self.section.noun:
            missing = _("There is no change of a %(noun)s numbered %(number)s.")
            raise Http404(missing % {"noun": self.section.noun, "number": act_id})
        if not may_administer(request.user):
            raise PermissionDenied
        place = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
        back = reverse(place, args=[self.key_of(act.subject)])
        change, fault, shown = None, "", ""
        try:
            change = preview_revert(act)
            shown = version_of(change.before or {})
            if request.method == "POST" and request.POST.get(SHOWN, shown) == shown:
                return self._revert(request, act_id, back)
        except SettingsInvalid as invalid:
            fault = str(invalid)
        stale = request.method == "POST" and not fault
        context = {
            **self.admin_site.each_context(request),
            "title": _("Take back: %(action)s %(subject)s")
            % {"action": act.action, "subject": act.subject},
            "opts": self.opts,
            "act": act,
            "fault": fault,
            "back": back,
            "shown": shown,
            "stale": stale,
            "lines": list(change.lines()) if change else [],
            "preview": preview(self.section, act.subject, change.before, change.after)
            if change and change.before
            else None,
        }
        status = 409 if stale else 422 if fault and request.method == "POST" else 200
        return TemplateResponse(request, "admin/settings_revert.html", context, status=status)

    def key_of(self, name: str) -> Any:
        """The primary key of an entry that the section calls so."""
        return self.section.key(name)

    def _revert(self, request: HttpRequest, act_id: int, back: str) -> HttpResponseRedirect:
        reason = request.POST.get("_reason", "").strip()[:LONGEST_REASON]
        if revert(act_id, actor_of(request), reason):
            self.message_user(request, _("Taken back: it is as it was before."), messages.SUCCESS)
        else:
            self.message_user(request, _("Nothing changed: it was so already."), messages.WARNING)
        return redirect(back)
