"""Base classes whose types are generic to the type checker only."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin

if TYPE_CHECKING:
    from tasks_app.models import ApiToken, AuditEntry, Kind, Limit, SupervisorSettings

    KindFormBase = forms.ModelForm[Kind]
    LimitFormBase = forms.ModelForm[Limit]
    SettingsFormBase = forms.ModelForm[SupervisorSettings]
    AnyAdminBase = admin.ModelAdmin[Any]
    KindAdminBase = admin.ModelAdmin[Kind]
    LimitAdminBase = admin.ModelAdmin[Limit]
    SettingsAdminBase = admin.ModelAdmin[SupervisorSettings]
    RecordAdminBase = admin.ModelAdmin[ApiToken | AuditEntry]
else:
    KindFormBase = LimitFormBase = SettingsFormBase = forms.ModelForm
    AnyAdminBase = KindAdminBase = LimitAdminBase = SettingsAdminBase = RecordAdminBase = (
        admin.ModelAdmin
    )
