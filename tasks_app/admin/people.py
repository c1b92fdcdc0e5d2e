"""Users, groups and the audit: who has which role, and what people did."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tasks_app.admin.acting import actor_of
from tasks_app.admin.bases import (
    GroupAdminBase,
    GroupFormBase,
    PersonFormBase,
    RecordAdminBase,
    RightsFieldBase,
    UserAdminBase,
)
from tasks_app.admin.changes import Configures, Previewed
from tasks_app.admin.stale import KnowsWhatItShowed, RefusesStale
from tasks_app.models import AuditEntry
from tasks_app.services.people.people import Role, role_of
from tasks_app.services.settings.configuration import note_change
from tasks_app.store.reads.people.rights import name_of, rights


class ReadOnlyAdmin(RecordAdminBase):
    """Lists and shows; nothing is added, changed or deleted."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Made elsewhere."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never edited."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never deleted."""
        return False


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """What people did, newest first."""

    list_display = ("at", "actor", "action", "subject", "count", "reason", "address")
    list_filter = ("action",)
    search_fields = ("actor", "subject", "reason")
    show_full_result_count = False


class RightsField(RightsFieldBase):
    """Rights by what they allow."""

    def label_from_instance(self, obj: Permission) -> str:
        """The words, without the model that Django hangs a right on."""
        return gettext(obj.name)


class GroupForm(Previewed, GroupFormBase):
    """The rights that a group gives beside its role."""

    permissions = RightsField(
        Permission.objects.none(),
        label=_("Permissions"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "The groups viewer, operator and admin are roles by their names; these rights come "
            "on top, in any group."
        ),
    )

    class Meta:
        model = Group
        fields = ("name", "permissions")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["permissions"]
        assert isinstance(field, RightsField)
        field.queryset = rights()


admin.site.unregister(Group)
admin.site.unregister(User)


@admin.register(Group)
class GroupAdmin(Configures, GroupAdminBase):
    """Roles, and rights beside them."""

    form = GroupForm
    actions = None
    list_display = ("name", "members")
    search_fields = ("name",)

    @admin.display(description=_("members"))
    def members(self, group: Group) -> int:
        """How many users are in it."""
        return group.user_set.count()

    def entry_name(self, entry: Model) -> str:
        """Groups go by name, as their users do."""
        return str(entry)

    def wanted(self, form: Any) -> dict[str, Any]:
        """The rights that were chosen: a group that is not saved has none of them yet."""
        return {"permissions": sorted(map(name_of, form.cleaned_data["permissions"]))}

    def key_of(self, name: str) -> Any:
        """The key of the group of this name; 0 where there is none."""
        found = Group.objects.filter(name=name).first()
        return found.pk if found else 0

    def get_readonly_fields(
        self, request: HttpRequest, obj: Group | None = None
    ) -> tuple[str, ...]:
        """A role is its name: it never changes."""
        return ("name",) if obj else ()


ROLES: Final = frozenset(role.name.lower() for role in Role)

HASHED: Final = "_hashed_password"
"""Where a request keeps the hash of a new user's password."""

TOLD: Final = ("username", "email", "is_active", "is_staff", "is_superuser")
"""What the audit tells of a user; never the password, not even its digest."""


class NewPersonForm(AdminUserCreationForm):  # type: ignore[type-arg]  # generic to stubs only
    """A new user, whose password is hashed before the transaction that holds a connection."""

    hashed = ""

    def set_password_and_save(self, user: User, commit: bool = True, **kwargs: Any) -> User:
        """Take the hash that is there."""
        if not self.cleaned_data["set_usable_password"]:
            return super().set_password_and_save(user, commit=commit, **kwargs)
        user.password = self.hashed
        if commit:
            user.save()
        return user


class PersonForm(KnowsWhatItShowed, PersonFormBase):
    """A user's account; the password has a page of its own."""

    class Meta(UserChangeForm.Meta):
        """Django's own fields."""


@admin.register(User)
class PeopleAdmin(RefusesStale, UserAdminBase):
    """Users with their roles; only superusers touch superusers."""

    actions = None
    list_display = ("username", "email", "roles", "is_active", "last_login")
    list_filter = ("groups", "is_active", "is_superuser")
    filter_horizontal = ()
    form = PersonForm
    add_form = NewPersonForm
    change_form_template = "admin/person_form.html"
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Person"), {"fields": ("first_name", "last_name", "email")}),
        (
            _("Rights"),
            {
                "fields": ("is_active", "groups", "is_superuser"),
                "description": _("The groups viewer, operator and admin are the roles."),
            },
        ),
        (_("Dates"), {"fields": ("last_login", "date_joined")}),
    )

    def audit_subject(self, entry: Model) -> str:
        """Users go by name."""
        return str(entry)

    def get_queryset(self, request: HttpRequest) -> Any:
        """Users with their groups, in one more query for the list."""
        return super().get_queryset(request).prefetch_related("groups")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Hash the password, then begin the transaction."""
        first, second = (request.POST.get(name, "") for name in ("password1", "password2"))
        hashed = make_password(first) if first and first == second else ""
        setattr(request, HASHED, hashed)
        return super().add_view(request, form_url, extra_context)

    def get_form(
        self, request: HttpRequest, obj: User | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """The form of this request, with the hash that it takes."""
        form: Any = super().get_form(request, obj, change=change, **kwargs)
        if obj is None:
            form.hashed = getattr(request, HASHED, "")
        return form

    @admin.display(description=_("roles"))
    def roles(self, user: User) -> str:
        """The role in force, whatever gives it, and the groups that are no roles."""
        role = role_of(user).name.lower()
        return ", ".join(
            [role, *(each.name for each in user.groups.all() if each.name not in ROLES)]
        )

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """Who is no superuser makes none."""
        fixed = ("last_login", "date_joined")
        return fixed if _is_superuser(request) else (*fixed, "is_superuser")

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """A superuser's account is changed by superusers."""
        return super().has_change_permission(request, obj) and _may_touch(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """A superuser's account is deleted by superusers."""
        return super().has_delete_permission(request, obj) and _may_touch(request, obj)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save, and keep what was there before for the audit."""
        form.before = _told(User.objects.get(pk=obj.pk)) if change else None
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Audit rights and roles; a new password is told apart, by its fact alone."""
        super().save_related(request, form, formsets, change)
        user = form.instance
        told = _told(User.objects.get(pk=user.pk))
        note_change(actor_of(request), "user", user.get_username(), (form.before, told))

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Delete, and audit who was there."""
        name, before = obj.get_username(), _told(obj)
        super().delete_model(request, obj)
        note_change(actor_of(request), "user", name, (before, None))

    def log_change(self, request: HttpRequest, obj: User, message: Any) -> Any:
        """The page that sets a password says so with a text; the audit tells the fact."""
        if isinstance(message, str) or _sets_password(message):
            changed = ({"password": "kept"}, {"password": "set anew"})
            note_change(actor_of(request), "user", obj.get_username(), changed)
        return super().log_change(request, obj, message)


def _sets_password(message: Any) -> bool:
    fields = [name for part in message for name in part.get("changed", {}).get("fields", ())]
    return "password" in map(str.lower, fields)


def _told(user: User) -> Mapping[str, Any]:
    groups = sorted(user.groups.values_list("name", flat=True))
    return {**{name: getattr(user, name) for name in TOLD}, "groups": groups}


def _is_superuser(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_superuser", False))


def _may_touch(request: HttpRequest, user: User | None) -> bool:
    return user is None or not user.is_superuser or _is_superuser(request)
