"""Breakers of limits, credit for retries that grows with time, retries that are due by kind."""

import django.core.validators
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    # The states of breakers are moments: after this one all of them begin closed.

    dependencies = [
        ("tasks_app", "0016_supervision_history"),
    ]

    operations = [
        migrations.DeleteModel(name="BreakerState"),
        migrations.CreateModel(
            name="BreakerState",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "scope",
                        "name",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "scope",
                    models.CharField(
                        choices=[("kind", "Kind"), ("limit", "Limit")], max_length=10
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("closed", "Closed"),
                            ("open", "Open"),
                            ("half_open", "Half open"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "since",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("probe", models.UUIDField(null=True)),
                ("probe_token", models.BigIntegerField(null=True)),
            ],
            options={
                "db_table": "breaker_state",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["closed", "half_open", "open"])),
                        name="breaker_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("scope__in", ["kind", "limit"])),
                        name="breaker_scope_known",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="limit",
            name="breaker_failures",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="So many failures of all its kinds within the window open the breaker. "
                "Empty: no breaker.",
                null=True,
                validators=[django.core.validators.MinValueValidator(1)],
            ),
        ),
        migrations.AddField(
            model_name="limit",
            name="breaker_window_seconds",
            field=models.FloatField(
                db_default=60.0,
                default=60.0,
                help_text="The window in which failures are counted, in seconds.",
                validators=[django.core.validators.MinValueValidator(0.001)],
            ),
        ),
        migrations.AddField(
            model_name="limit",
            name="breaker_open_seconds",
            field=models.FloatField(
                db_default=30.0,
                default=30.0,
                help_text="How long an open breaker pauses all its kinds before one probe, "
                "in seconds.",
                validators=[django.core.validators.MinValueValidator(0.001)],
            ),
        ),
        migrations.AddConstraint(
            model_name="limit",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("breaker_failures__isnull", True),
                        ("breaker_failures__gte", 1),
                        _connector="OR",
                    ),
                    ("breaker_open_seconds__gt", 0),
                    ("breaker_window_seconds__gt", 0),
                ),
                name="limit_breaker_sound",
            ),
        ),
        migrations.AddConstraint(
            model_name="kind",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("breaker_failures__isnull", True),
                        ("breaker_failures__gte", 1),
                        _connector="OR",
                    ),
                    ("breaker_open_seconds__gt", 0),
                    ("breaker_window_seconds__gt", 0),
                ),
                name="kind_breaker_sound",
            ),
        ),
        migrations.RemoveField(model_name="retrycredit", name="firsts_seen"),
        migrations.AddField(
            model_name="retrycredit",
            name="at",
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.RemoveIndex(model_name="task", name="task_retry_due"),
        migrations.AddIndex(
            model_name="task",
            index=models.Index(
                condition=models.Q(("status", "FAILED")),
                fields=["kind", "run_at"],
                name="task_retry_due",
            ),
        ),
    ]
