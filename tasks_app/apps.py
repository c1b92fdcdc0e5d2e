"""The one Django app of Chargehand."""

from django.apps import AppConfig


class TasksAppConfig(AppConfig):
    """Registers the app under the label that migrations and permissions carry."""

    name = "tasks_app"
    label = "tasks_app"
    verbose_name = "Chargehand"
    default_auto_field = "django.db.models.BigAutoField"
