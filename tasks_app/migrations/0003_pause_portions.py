"""How far a pause has come that reaches the tasks of a job in portions."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0002_record'),
    ]

    operations = [
        migrations.AddField(
            model_name='job',
            name='held_to',
            field=models.UUIDField(null=True),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('held_to__isnull', False), ('paused', True)), fields=['id'], name='job_pausing'),
        ),
    ]
