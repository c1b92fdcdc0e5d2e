"""Each dead task gets the fingerprint of its error, and each death a row of its own."""

import django.db.models.functions.datetime
import tasks_app.core.states
from django.db import migrations, models

AT_ONCE = 2_000

NEXT = """
SELECT id, error::text, dead_reason FROM task
 WHERE status = 'DEAD' AND id > %s ORDER BY id LIMIT %s
"""
MARK = """
WITH found AS (
    SELECT * FROM unnest(%s::uuid[], %s::text[]) AS f(id, fingerprint)
), marked AS (
    UPDATE task t SET fingerprint = f.fingerprint FROM found f WHERE t.id = f.id
    RETURNING t.id, t.kind, t.fingerprint, t.finished_at
)
INSERT INTO death (task_id, kind, fingerprint, worker_id, at)
SELECT m.id, m.kind, m.fingerprint,
       (SELECT worker_id FROM attempt a WHERE a.task_id = m.id AND a.dead_reason IS NOT NULL
         ORDER BY token DESC LIMIT 1),
       m.finished_at
  FROM marked m ORDER BY m.finished_at
"""


def mark_the_dead(apps, schema_editor):
    """In batches: there may be many, and their errors are long."""
    from tasks_app.core.failures.fingerprints import key_of

    last = "00000000-0000-0000-0000-000000000000"
    with schema_editor.connection.cursor() as cursor:
        while True:
            cursor.execute(NEXT, [last, AT_ONCE])
            dead = cursor.fetchall()
            if not dead:
                return
            keys = [key_of(error, reason) for _, error, reason in dead]
            cursor.execute(MARK, [[row[0] for row in dead], keys])
            last = dead[-1][0]


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0008_audit_chain'),
    ]

    operations = [
        migrations.CreateModel(
            name='DeadGroup',
            fields=[
                ('fingerprint', models.CharField(max_length=16, primary_key=True, serialize=False)),
                ('assigned_to', models.CharField(db_default='', max_length=150)),
                ('note', models.TextField(db_default='')),
                ('dismissed_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'dead_group',
            },
        ),
        migrations.CreateModel(
            name='Death',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('task_id', models.UUIDField()),
                ('kind', models.CharField(max_length=100)),
                ('fingerprint', models.CharField(max_length=16)),
                ('worker_id', models.UUIDField(null=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'death',
            },
        ),
        migrations.AddField(
            model_name='task',
            name='fingerprint',
            field=models.CharField(max_length=16, null=True),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('status', tasks_app.core.states.Status['DEAD'])), fields=['fingerprint', 'finished_at', 'id'], name='task_dead_alike'),
        ),
        migrations.AddIndex(
            model_name='death',
            index=models.Index(fields=['fingerprint', 'at'], name='death_alike'),
        ),
        migrations.RunPython(mark_the_dead, migrations.RunPython.noop),
    ]
