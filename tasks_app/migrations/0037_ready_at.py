from django.db import migrations, models
from django.db.models.functions import Coalesce

# Since when waiting tasks have been ready, where that is not when they were submitted. One that was
# attempted before keeps its age: its run_at is that of its retry.
SINCE_WHEN = """
UPDATE task SET ready_at = greatest(run_at, created_at)
 WHERE status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING')
   AND waiting_on = 0 AND attempts = 0 AND run_at <> created_at
"""


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0036_served_since'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='task',
            name='task_oldest',
        ),
        migrations.AddField(
            model_name='task',
            name='ready_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.RunSQL(SINCE_WHEN, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(
                Coalesce('ready_at', 'created_at'),
                condition=models.Q(
                    ('status__in', ['ASSIGNED', 'FAILED', 'PENDING', 'RUNNING']),
                    ('waiting_on', 0),
                ),
                name='task_oldest',
            ),
        ),
    ]
