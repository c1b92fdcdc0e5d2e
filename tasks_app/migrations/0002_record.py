"""What models do not declare: a sequence, storage, the audit's chain, groups and single rows."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

# Narrow tables that are updated in place: room on each page keeps the updates heap-only. Rates are
# lost in a crash of the server, and nobody misses them.
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
ALTER TABLE request_rate SET UNLOGGED;
ALTER TABLE request_rate SET (fillfactor = 70);
"""

# One row's digest covers the digest before it and every column. Instants are told as seconds, for
# their text depends on the session's time zone.
AUDIT_DIGEST = """
CREATE FUNCTION audit_digest(before bytea, e audit_entry) RETURNS bytea
LANGUAGE sql STABLE AS $$
    SELECT sha256(before || convert_to(jsonb_build_array(
        e.id, extract(epoch FROM e.at)::text, e.actor, e.address, e.via, e.action, e.subject,
        e.wanted, e.count, e.reason, e.before, e.after, e.detail)::text, 'UTF8'))
$$;
"""

# The number is given under the head's lock, so that the order of the numbers is that of the chain.
# pg_dump empties the search path, so that the function names its own. A row that brings its digest
# comes from a dump; in what order they come is the dump's affair, and audit-verify looks at the
# chain. On a record that lives such a row is appended like any other.
AUDIT_APPEND = """
CREATE FUNCTION audit_append() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
DECLARE
    head audit_head;
BEGIN
    SELECT * INTO head FROM audit_head WHERE id = 1 FOR UPDATE;
    IF length(NEW.digest) > 0 AND (head IS NULL OR head.last = 0 OR NEW.id <= head.last) THEN
        RETURN NEW;
    END IF;
    IF head IS NULL THEN
        IF EXISTS (SELECT FROM audit_entry) THEN
            RAISE EXCEPTION 'the head of the audit is missing: its last entries may be, too';
        END IF;
        INSERT INTO audit_head (id, last, digest) VALUES (1, 0, '') RETURNING * INTO head;
    END IF;
    NEW.id := head.last + 1;
    NEW.digest := audit_digest(head.digest, NEW);
    UPDATE audit_head SET last = NEW.id, digest = NEW.digest WHERE id = 1;
    RETURN NEW;
END $$;
CREATE TRIGGER audit_append BEFORE INSERT ON audit_entry
    FOR EACH ROW EXECUTE FUNCTION audit_append();
"""

# A migrated database has a head already, of an audit without an entry.
AUDIT_RESTORE = """
CREATE FUNCTION audit_restore_head() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
DECLARE
    head audit_head;
BEGIN
    SELECT * INTO head FROM audit_head WHERE id = NEW.id FOR UPDATE;
    IF head IS NULL THEN
        RETURN NEW;
    END IF;
    IF head.last > 0 THEN
        RAISE EXCEPTION 'this database has an audit of its own: restore into one that is new';
    END IF;
    UPDATE audit_head SET last = NEW.last, digest = NEW.digest WHERE id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_restore_head BEFORE INSERT ON audit_head
    FOR EACH ROW EXECUTE FUNCTION audit_restore_head();
"""

AUDIT_KEEP = """
CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on %: the audit is appended to and never changed', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER audit_keep BEFORE UPDATE OR DELETE ON audit_entry
    FOR EACH ROW EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER audit_keep_all BEFORE TRUNCATE ON audit_entry
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER audit_keep BEFORE DELETE ON audit_head
    FOR EACH ROW EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER audit_keep_all BEFORE TRUNCATE ON audit_head
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
"""

SINGLE_ROWS = """
INSERT INTO supervisor_settings (id) VALUES (1);
INSERT INTO leader (id) VALUES (1);
INSERT INTO alert_settings (id) VALUES (1);
INSERT INTO retention_settings (id) VALUES (1);
INSERT INTO audit_head (id, last, digest) VALUES (1, 0, '');
INSERT INTO alert_rule (name) VALUES
    ('off_duty'), ('unserved'), ('new_error'), ('error_back'), ('overdue'), ('silent'),
    ('held_kind'), ('snapshot_held'), ('pinned'), ('dead_waiting');
"""

GROUPS = ("viewer", "operator", "admin")


def make_groups(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Make the groups, and let admins see payloads.

    Django would make the permission only after the last migration.
    """
    content_type, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label="tasks_app", model="task"
    )
    permission, _ = apps.get_model("auth", "Permission").objects.get_or_create(
        content_type=content_type,
        codename="see_payloads",
        defaults={"name": "May see payloads whole, redacted keys included"},
    )
    for name in GROUPS:
        group, _ = apps.get_model("auth", "Group").objects.get_or_create(name=name)
        if name == "admin":
            group.permissions.add(permission)


class Migration(migrations.Migration):
    # The last of those; see 0001.
    replaces = [("tasks_app", "0042_start_times_in_queue")]

    dependencies = [
        ("tasks_app", "0001_schema"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]
    operations = [
        migrations.RunSQL(STORAGE),
        migrations.RunSQL(AUDIT_DIGEST + AUDIT_APPEND + AUDIT_RESTORE + AUDIT_KEEP),
        migrations.RunSQL(SINGLE_ROWS),
        migrations.RunPython(make_groups, migrations.RunPython.noop),
    ]
