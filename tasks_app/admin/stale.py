"""Forms that know what they showed: a save over what somebody else saved meanwhile is refused.

The form carries the values that it was filled with. If one has changed by the time it is sent,
nothing is saved: what its reader left alone takes the value of now, what both changed is told.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from django import forms
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import Model
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from tasks_app.admin.bases import AnyAdminBase
from tasks_app.store.reads.settings.settings_history import SettingsAct, list_acts_after, newest_act

SEEN: Final = "_seen"
SALT: Final = "what a form of configuration showed"
LONGEST_SHOWN: Final = 200
SEVERAL: Final = (forms.MultipleChoiceField, forms.ModelMultipleChoiceField)

Texts = Sequence[str]


class SeenField(forms.CharField):
    """What the form showed, signed; never a change by itself."""

    widget = forms.HiddenInput

    def has_changed(self, initial: Any, data: Any) -> bool:
        """It is no setting."""
        return False


class KnowsWhatItShowed(BaseForm):
    """A form of one entry; ``subject`` is what the audit calls it."""

    subject = ""
    instance: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.meanwhile: dict[str, tuple[Texts, Texts, bool]] = {}
        self._unreadable = False
        if self.instance._state.adding:
            return
        self._now = {name: texts_of(self, name) for name in held_fields(self)}
        self._after = 0
        fresh = {"texts": self._now, "after": newest_act(self.subject)}
        self.fields[SEEN] = SeenField(required=False)
        self.initial[SEEN] = signing.dumps(fresh, salt=SALT, compress=True)
        if self.is_bound and self.data.get(SEEN):
            self._compare()

    @property
    def seen_input(self) -> SafeString:
        """The hidden input that carries what was shown; nothing for a new entry."""
        return self[SEEN].as_hidden() if SEEN in self.fields else SafeString("")

    def _compare(self) -> None:
        """Note what changed meanwhile; what the reader left alone takes the value of now."""
        sent: Any = self.data
        data = sent.copy()
        try:
            told = signing.loads(self.data[SEEN], salt=SALT)
        except signing.BadSignature:
            told, self._unreadable = {"texts": {}, "after": 0}, True
        self._after = told["after"]
        for name, now in self._now.items():
            seen = told["texts"].get(name, now)
            if seen == now:
                continue
            typed = posted(self, name)
            alone = same(self.fields[name], typed, seen)
            self.meanwhile[name] = (
                seen,
                now,
                not alone and not same(self.fields[name], typed, now),
            )
            if alone:
                put(data, self.fields[name], self.add_prefix(name), now)
        data[SEEN] = self.initial[SEEN]
        self.data = data

    def full_clean(self) -> None:
        """Check the fields, and tell what changed since they were shown."""
        super().full_clean()
        if self._unreadable:
            self.add_error(None, _("This form is out of date. Check the values and save again."))
        if not self.meanwhile:
            return
        self.add_error(
            None,
            _(
                "Nothing was saved: the settings below changed while this form was open. Fields "
                "that you left alone now show the current value. Check them and save again."
            ),
        )
        for line in self._lines():
            self.add_error(None, line)
        for name, (_seen, now, both) in self.meanwhile.items():
            if both:
                kept = _("Changed meanwhile to %(now)s. Your value is kept here and not saved.")
                self.add_error(name, kept % {"now": shown(self.fields[name], now)})

    def _lines(self) -> Iterator[str]:
        acts = list_acts_after(self.subject, self._after)
        for name, (seen, now, _both) in self.meanwhile.items():
            by = next((act for act in reversed(acts) if names(act, name)), None)
            yield _("%(label)s: %(before)s → %(after)s (%(who)s)") % {
                "label": self.fields[name].label or name,
                "before": shown(self.fields[name], seen),
                "after": shown(self.fields[name], now),
                "who": _who(by),
            }


def _who(act: SettingsAct | None) -> str:
    if act is None:
        return _("the audit does not say who")
    return _("%(actor)s, %(at)s UTC") % {"actor": act.actor, "at": f"{act.at:%Y-%m-%d %H:%M:%S}"}


def names(act: SettingsAct, setting: str) -> bool:
    """Whether an act changed a setting."""
    return any(name == setting for name, _before, _after in act.changes)


def shown(field: forms.Field, texts: Texts) -> str:
    """What a field holds, for a person."""
    if isinstance(field.widget, forms.CheckboxInput):
        return _("yes") if texts else _("no")
    if not texts:
        return _("empty")
    text = " ".join(", ".join(texts).split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def held_fields(form: BaseForm) -> Iterator[str]:
    """The fields that show something saved; no password is among them."""
    for name, field in form.fields.items():
        if not field.disabled and not isinstance(field.widget, forms.PasswordInput):
            yield name


def texts_of(form: BaseForm, name: str) -> Texts:
    """What a browser sends for a field that is left as it is shown; ticks in their order."""
    field = form.fields[name]
    value = field.prepare_value(form.get_initial_for_field(field, name))
    if isinstance(field.widget, forms.CheckboxInput):
        return ["on"] if value else []
    if isinstance(field, SEVERAL):
        return sorted(map(str, value or ()))
    written = field.widget.format_value(value)
    each = written if isinstance(written, list | tuple) else [written]
    return [_plain(str(text)) for text in each if text not in (None, "")]


def posted(form: BaseForm, name: str) -> Texts:
    """The same of what was sent."""
    data: Any = form.data
    key = form.add_prefix(name)
    texts = data.getlist(key) if hasattr(data, "getlist") else [data[key]] if key in data else []
    if isinstance(form.fields[name].widget, forms.CheckboxInput):
        ticked = form.fields[name].widget.value_from_datadict(data, form.files, key)
        return ["on"] if ticked else []
    plain = [_plain(str(text)) for text in texts if text != ""]
    return sorted(plain) if isinstance(form.fields[name], SEVERAL) else plain


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def same(field: forms.Field, one: Texts, other: Texts) -> bool:
    """Whether two texts of a field mean the same: 900 and 900.0 do."""
    if list(one) == list(other):
        return True
    if len(one) > 1 or len(other) > 1:
        return False
    try:
        cleaned = [field.clean(each[0] if each else "") for each in (one, other)]
    except ValidationError:
        return False
    return bool(cleaned[0] == cleaned[1])


def put(data: Any, field: forms.Field, key: str, texts: Texts) -> None:
    """Have the data say these texts."""
    if isinstance(field.widget, forms.CheckboxInput) and not texts:
        data.pop(key, None)
    elif hasattr(data, "setlist"):
        data.setlist(key, list(texts) or [""])
    else:
        data[key] = texts[0] if texts else ""


class RefusesStale(AnyAdminBase):
    """An admin whose forms are refused where the entry changed since it was shown."""

    def audit_subject(self, entry: Model) -> str:
        """What the audit calls an entry."""
        return str(entry.pk)

    def get_queryset(self, request: HttpRequest) -> Any:
        """The entries; one that is saved is held until the end, between look and write."""
        rows = super().get_queryset(request)
        saves = request.method == "POST" and connection.in_atomic_block
        return rows.select_for_update(of=("self",)) if saves else rows

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """The form's class, which knows what the audit calls this entry."""
        made: Any = super().get_form(request, obj, change=change, **kwargs)
        if obj is not None:
            made.subject = self.audit_subject(obj)
        return made

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show the form; 409 where it was refused for what changed meanwhile."""
        answer = super().render_change_form(request, context, *args, **kwargs)
        if getattr(context["adminform"].form, "meanwhile", None):
            answer.status_code = 409
        return answer
