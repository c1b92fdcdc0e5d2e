"""The groups that people are put into: viewer, operator, admin."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

GROUPS = ("viewer", "operator", "admin")


def make_groups(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Make those that are missing."""
    group = apps.get_model("auth", "Group")
    for name in GROUPS:
        group.objects.get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = [
        ("tasks_app", "0005_effects"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]
    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
