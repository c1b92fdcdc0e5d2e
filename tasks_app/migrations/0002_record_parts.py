"""Parts of the record that models cannot say: the token sequence, storage settings, single rows."""

from django.db import migrations

# Narrow tables that are updated in place: room on each page keeps the updates heap-only.
STORAGE = """
CREATE SEQUENCE lease_token AS bigint CACHE 1;
ALTER TABLE heartbeat SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01,
                           autovacuum_vacuum_cost_delay = 0);
ALTER TABLE lease SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01,
                       autovacuum_vacuum_cost_delay = 0);
ALTER TABLE leader SET (fillfactor = 10);
ALTER TABLE status_count SET (fillfactor = 50);
ALTER TABLE status_delta SET (autovacuum_vacuum_scale_factor = 0.01,
                              autovacuum_vacuum_cost_delay = 0);
ALTER TABLE settled SET (autovacuum_vacuum_scale_factor = 0.01,
                         autovacuum_vacuum_cost_delay = 0);
ALTER TABLE task SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.01,
                      autovacuum_vacuum_cost_delay = 0);
"""

UNDO_STORAGE = "DROP SEQUENCE lease_token;"

SINGLE_ROWS = """
INSERT INTO supervisor_settings (id) VALUES (1) ON CONFLICT DO NOTHING;
INSERT INTO leader (id) VALUES (1) ON CONFLICT DO NOTHING;
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0001_record")]
    operations = [
        migrations.RunSQL(STORAGE, UNDO_STORAGE),
        migrations.RunSQL(SINGLE_ROWS, migrations.RunSQL.noop),
    ]
