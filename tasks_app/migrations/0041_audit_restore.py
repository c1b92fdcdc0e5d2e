"""The audit can be restored from a dump of data alone: numbers and digests stay what they were."""

from django.db import migrations

# pg_dump empties the search path, so that the function names its own. A row that brings its digest
# comes from a dump; in what order they come is the dump's affair, and audit-verify looks at the
# chain. On a record that lives such a row is appended like any other.
APPEND = """
CREATE OR REPLACE FUNCTION audit_append() RETURNS trigger LANGUAGE plpgsql
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
"""

# A migrated database has a head already, of an audit without an entry.
RESTORE_HEAD = """
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

UNDO = """
DROP TRIGGER audit_restore_head ON audit_head;
DROP FUNCTION audit_restore_head();
ALTER FUNCTION audit_append() RESET search_path;
"""


class Migration(migrations.Migration):

    dependencies = [
        ("tasks_app", "0040_bounded_jobs"),
    ]

    operations = [migrations.RunSQL(APPEND + RESTORE_HEAD, UNDO)]
