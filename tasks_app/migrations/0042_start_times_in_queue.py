from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0041_audit_restore'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='task',
            name='task_ready',
        ),
        migrations.RemoveIndex(
            model_name='task',
            name='task_ready_of_job',
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(
                condition=models.Q(('status', 'PENDING'), ('waiting_on', 0)),
                fields=['kind', 'queue_at', 'id', 'run_at'],
                name='task_ready',
            ),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(
                condition=models.Q(
                    ('job__isnull', False), ('status', 'PENDING'), ('waiting_on', 0)
                ),
                fields=['kind', 'job', 'queue_at', 'id', 'run_at'],
                name='task_ready_of_job',
            ),
        ),
    ]
