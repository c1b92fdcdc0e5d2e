"""Acts on many tasks: frozen at the confirmation, worked through by the leader."""

import django.db.models.deletion
import django.db.models.functions.datetime
import tasks_app.core.actions.bulks
import tasks_app.models.ids
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0013_searching'),
    ]

    operations = [
        migrations.CreateModel(
            name='Bulk',
            fields=[
                ('id', models.UUIDField(default=tasks_app.models.ids.new_id, primary_key=True, serialize=False)),
                ('key', models.CharField(max_length=64, unique=True)),
                ('action', models.CharField(choices=[('requeue', 'Requeue'), ('dismiss', 'Dismiss'), ('cancel', 'Cancel'), ('priority', 'Priority'), ('deadline', 'Deadline')], max_length=10)),
                ('params', models.JSONField(db_default={})),
                ('canary', models.BooleanField(db_default=False)),
                ('state', models.CharField(choices=[('held', 'Held'), ('running', 'Running'), ('done', 'Done'), ('undone', 'Undone'), ('aborted', 'Aborted'), ('stopped', 'Stopped')], db_default='held', max_length=10)),
                ('actor', models.CharField(max_length=150)),
                ('reason', models.TextField(db_default='')),
                ('wanted', models.CharField(db_default='', max_length=1000)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('begins_at', models.DateTimeField()),
                ('look_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(null=True)),
                ('total', models.IntegerField(db_default=0)),
                ('place', models.IntegerField(db_default=0)),
                ('moved', models.IntegerField(db_default=0)),
                ('ended', models.TextField(db_default='')),
            ],
            options={
                'db_table': 'bulk',
                'indexes': [models.Index(condition=models.Q(('state__in', [tasks_app.core.actions.bulks.BulkState['HELD'], tasks_app.core.actions.bulks.BulkState['RUNNING']])), fields=['look_at'], name='bulk_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('action__in', ['cancel', 'deadline', 'dismiss', 'priority', 'requeue'])), name='bulk_action_known'), models.CheckConstraint(condition=models.Q(('state__in', ['aborted', 'done', 'held', 'running', 'stopped', 'undone'])), name='bulk_state_known'), models.CheckConstraint(condition=models.Q(('place__gte', 0), ('place__lte', models.F('total')), ('moved__gte', 0), ('moved__lte', models.F('place'))), name='bulk_within_itself'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', [tasks_app.core.actions.bulks.BulkState['HELD'], tasks_app.core.actions.bulks.BulkState['RUNNING']])), models.Q(models.Q(('state__in', [tasks_app.core.actions.bulks.BulkState['HELD'], tasks_app.core.actions.bulks.BulkState['RUNNING']]), _negated=True), ('finished_at__isnull', False)), _connector='OR'), name='bulk_open_or_finished')],
            },
        ),
        migrations.CreateModel(
            name='BulkItem',
            fields=[
                ('pk', models.CompositePrimaryKey('bulk_id', 'place', blank=True, editable=False, primary_key=True, serialize=False)),
                ('place', models.IntegerField()),
                ('task_id', models.UUIDField()),
                ('requeues', models.IntegerField()),
                ('fingerprint', models.CharField(max_length=16, null=True)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('moved', 'Moved'), ('refused', 'Refused')], db_default='waiting', max_length=10)),
                ('why', models.CharField(db_default='', max_length=200)),
                ('bulk', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='items', to='tasks_app.bulk')),
            ],
            options={
                'db_table': 'bulk_item',
                'indexes': [models.Index(fields=['task_id'], name='bulk_item_task'), models.Index(condition=models.Q(('state', tasks_app.core.actions.bulks.ItemState['REFUSED'])), fields=['bulk', 'place'], name='bulk_item_refused')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['moved', 'refused', 'waiting'])), name='bulk_item_state_known')],
            },
        ),
    ]
