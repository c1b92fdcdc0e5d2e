"""The record on a virtual clock, and empty again for each seed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.db import connection

from tasks_app.models import Leader, SupervisorSettings
from tests.simulation.stage import ON_THE_CLOCK

CLOCK: Final = """
CREATE SCHEMA simulation;
CREATE FUNCTION simulation.statement_timestamp() RETURNS timestamptz STABLE LANGUAGE sql
    AS $$ SELECT to_timestamp(current_setting('simulation.now')::float8) $$;
"""
# A column's default names the function that it was made with, whatever the search path says.
DEFAULTS: Final = """
SELECT format('ALTER TABLE %%s ALTER COLUMN %%I SET DEFAULT %%s.statement_timestamp()',
              d.adrelid::regclass, a.attname, %(schema)s)
  FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
 WHERE lower(pg_get_expr(d.adbin, d.adrelid)) LIKE '%%statement_timestamp()'
"""
LEFT_OVER: Final = """
SELECT 'TRUNCATE ' || string_agg(format('%%I', tablename), ', ') || ' RESTART IDENTITY CASCADE'
  FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('django_migrations')
   AND tablename NOT LIKE 'auth_%%' AND tablename NOT LIKE 'django_%%'
"""


@contextmanager
def virtual_clock() -> Iterator[None]:
    """Have all statements and defaults of the record read the stage's clock."""
    with connection.cursor() as cursor:
        cursor.execute(CLOCK)
        cursor.execute(ON_THE_CLOCK)
    _point_defaults_to("simulation")
    try:
        yield
    finally:
        _point_defaults_to("pg_catalog")
        with connection.cursor() as cursor:
            cursor.execute("RESET search_path")
            cursor.execute("DROP SCHEMA simulation CASCADE")


def _point_defaults_to(schema: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(DEFAULTS, {"schema": schema})
        for (statement,) in cursor.fetchall():
            cursor.execute(statement)


def empty_record() -> None:
    """Take everything away, and begin all sequences anew."""
    with connection.cursor() as cursor:
        cursor.execute(LEFT_OVER, {})
        (statement,) = cursor.fetchone() or ("",)
        cursor.execute(statement)
        cursor.execute("ALTER SEQUENCE lease_token RESTART")
    SupervisorSettings.objects.create(id=1)
    Leader.objects.create(id=1)
