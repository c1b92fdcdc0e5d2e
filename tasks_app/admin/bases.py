"""Base classes whose types are generic to the type checker only."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserChangeForm

if TYPE_CHECKING:
    from django.contrib.auth.models import Group, Permission, User

    from tasks_app.models import (
        AlertChannel,
        AlertRule,
        AlertSettings,
        ApiToken,
        AuditEntry,
        Kind,
        Limit,
        RetentionSettings,
        SupervisorSettings,
    )

    KindFormBase = forms.ModelForm[Kind]
    LimitFormBase = forms.ModelForm[Limit]
    SettingsFormBase = forms.ModelForm[SupervisorSettings]
    AlertsFormBase = forms.ModelForm[AlertSettings]
    RetentionFormBase = forms.ModelForm[RetentionSettings]
    RuleFormBase = forms.ModelForm[AlertRule]
    ChannelFormBase = forms.ModelForm[AlertChannel]
    GroupFormBase = forms.ModelForm[Group]
    RightsFieldBase = forms.ModelMultipleChoiceField[Permission]
    AnyAdminBase = admin.ModelAdmin[Any]
    KindAdminBase = admin.ModelAdmin[Kind]
    LimitAdminBase = admin.ModelAdmin[Limit]
    SettingsAdminBase = admin.ModelAdmin[SupervisorSettings]
    GroupAdminBase = admin.ModelAdmin[Group]
    UserAdminBase = UserAdmin[User]
    PersonFormBase = UserChangeForm[User]
    RecordAdminBase = admin.ModelAdmin[ApiToken | AuditEntry]
else:
    AlertsFormBase = KindFormBase = LimitFormBase = SettingsFormBase = forms.ModelForm
    GroupFormBase = RetentionFormBase = forms.ModelForm
    RuleFormBase = ChannelFormBase = forms.ModelForm
    RightsFieldBase = forms.ModelMultipleChoiceField
    AnyAdminBase = KindAdminBase = LimitAdminBase = SettingsAdminBase = admin.ModelAdmin
    GroupAdminBase = RecordAdminBase = admin.ModelAdmin
    UserAdminBase = UserAdmin
    PersonFormBase = UserChangeForm
