"""Tokens say what they are for; those that exist keep what every token could do so far."""

import django.contrib.postgres.fields
from django.db import migrations, models

SO_FAR = "UPDATE api_token SET scopes = '{tasks:read,tasks:write,jobs:write}'"


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0009_fingerprints")]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=30), db_default=[], size=None
            ),
        ),
        migrations.RunSQL(SO_FAR, migrations.RunSQL.noop),
    ]
