"""The audit becomes a chain that the database itself appends to, and nobody changes."""

from django.db import migrations, models

# One row's digest covers the digest before it and every column. Instants are told as seconds, for
# their text depends on the session's time zone.
DIGEST = """
CREATE FUNCTION audit_digest(before bytea, e audit_entry) RETURNS bytea
LANGUAGE sql STABLE AS $$
    SELECT sha256(before || convert_to(jsonb_build_array(
        e.id, extract(epoch FROM e.at)::text, e.actor, e.address, e.via, e.action, e.subject,
        e.wanted, e.count, e.reason, e.before, e.after, e.detail)::text, 'UTF8'))
$$;
"""

CHAIN_WHAT_IS_THERE = """
DO $$
DECLARE
    e audit_entry;
    before bytea := '';
    last_id bigint := 0;
BEGIN
    FOR e IN SELECT * FROM audit_entry ORDER BY id LOOP
        before := audit_digest(before, e);
        last_id := e.id;
        UPDATE audit_entry SET digest = before WHERE id = last_id;
    END LOOP;
    INSERT INTO audit_head (id, last, digest) VALUES (1, last_id, before);
END $$;
"""

# The number is given under the head's lock, so that the order of the numbers is that of the chain.
APPEND = """
CREATE FUNCTION audit_append() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    head audit_head;
BEGIN
    SELECT * INTO head FROM audit_head WHERE id = 1 FOR UPDATE;
    IF NOT FOUND THEN
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

REFUSE = """
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

UNDO = """
DROP TRIGGER audit_keep_all ON audit_head;
DROP TRIGGER audit_keep ON audit_head;
DROP TRIGGER audit_keep_all ON audit_entry;
DROP TRIGGER audit_keep ON audit_entry;
DROP TRIGGER audit_append ON audit_entry;
DROP FUNCTION audit_refuse();
DROP FUNCTION audit_append();
DROP FUNCTION audit_digest(bytea, audit_entry);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0007_names'),
    ]

    operations = [
        migrations.AddField(
            model_name='auditentry',
            name='after',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='before',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='digest',
            field=models.BinaryField(db_default=b''),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='via',
            field=models.CharField(db_default='', max_length=200),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='wanted',
            field=models.CharField(db_default='', max_length=1000),
        ),
        migrations.CreateModel(
            name='AuditHead',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('last', models.BigIntegerField(db_default=0)),
                ('digest', models.BinaryField(db_default=b'')),
            ],
            options={
                'db_table': 'audit_head',
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='audit_head_one_row')],
            },
        ),
        migrations.RunSQL(DIGEST + CHAIN_WHAT_IS_THERE + APPEND + REFUSE, UNDO),
    ]
