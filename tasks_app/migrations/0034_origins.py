"""Where a job's tasks got their values from, so that what is hidden there is hidden in them."""

from django.db import migrations, models

# Of tasks that were filled in before, nobody has noted from which places. Where a step refers to
# results or items, or undoes another, all of its payload and its lock key count as from a hidden
# place as long as any kind hides anything.
MARK_FILLED = """
UPDATE task t
   SET origins = '[[["payload"],null,["*"]],[["lock_key"],null,["*"]],[["error"],null,["*"]],
                   [["told"],null,["*"]]]'
  FROM step_task s, job j
 WHERE s.task_id = t.id AND j.id = t.job_id
   AND (s.role = 'compensation'
        OR (s.role IN ('step', 'item')
            AND j.plan -> 'steps' -> s.place ->> 'kind' IS NOT NULL
            AND (j.plan -> 'steps' -> s.place)::text ~ '"\\$(result|item)"'))
"""

MARK_JOINS = """
UPDATE task t
   SET origins = jsonb_build_array(
           jsonb_build_array('["payload"]'::jsonb, j.plan -> 'steps' -> s.place -> 'kind', '[]'::jsonb),
           jsonb_build_array('["result"]'::jsonb, j.plan -> 'steps' -> s.place -> 'kind', '[]'::jsonb),
           '[["told"], null, ["*"]]'::jsonb)
  FROM step_task s, job j
 WHERE s.task_id = t.id AND j.id = t.job_id AND s.role = 'join'
"""


MARK_OTHERS = """
UPDATE task SET origins = '[[["told"],null,["*"]]]' WHERE job_id IS NOT NULL AND origins IS NULL
"""


class Migration(migrations.Migration):

    dependencies = [
        ("tasks_app", "0033_submitted_content"),
    ]

    operations = [
        migrations.AddField(
            model_name="task",
            name="origins",
            field=models.JSONField(null=True),
        ),
        migrations.RunSQL(MARK_FILLED, migrations.RunSQL.noop),
        migrations.RunSQL(MARK_JOINS, migrations.RunSQL.noop),
        migrations.RunSQL(MARK_OTHERS, migrations.RunSQL.noop),
    ]
