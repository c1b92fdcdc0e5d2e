"""The Django admin: configuration only. The one place outside store that saves."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from tasks_app.admin import alerting, kinds, log_ins, people, supervision, tokens

__all__ = ["alerting", "kinds", "log_ins", "people", "supervision", "tokens"]

admin.site.site_header = "Chargehand"
admin.site.site_title = "Chargehand"
admin.site.index_title = _("Configuration")
admin.site.site_url = "/"
