"""Sequences that are behind the numbers on record: the next insert would repeat one.

That is what a logical replica, a partial restore or a copy of the tables alone leaves behind.
"""

from dataclasses import dataclass
from typing import Final

from django.db import connection
from psycopg import sql as composed

from tasks_app.store import sql

TOKENS: Final = "lease_token"
"""No column owns it: tokens are given to leases, and stay on record with their attempts."""

# Only what the search path finds: another installation in the same database has its own leader.
OWNED = """
SELECT n.nspname, s.relname, tn.nspname, t.relname, a.attname
  FROM pg_class s
  JOIN pg_namespace n ON n.oid = s.relnamespace
  JOIN pg_depend d ON d.objid = s.oid AND d.classid = 'pg_class'::regclass
                  AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
  JOIN pg_class t ON t.oid = d.refobjid
  JOIN pg_namespace tn ON tn.oid = t.relnamespace
  JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
 WHERE s.relkind = 'S' AND pg_table_is_visible(t.oid)
 ORDER BY 1, 2
"""

ONE = """
SELECT {name}, CASE WHEN is_called THEN last_value ELSE last_value - 1 END, {highest}
  FROM {sequence}
"""

OF_COLUMN = "(SELECT coalesce(max({column}), 0) FROM {table})"
OF_TOKENS = """greatest((SELECT coalesce(max(token), 0) FROM attempt),
                        (SELECT coalesce(max(token), 0) FROM lease))"""


@dataclass(frozen=True, slots=True)
class Behind:
    """A sequence whose last number, ``at``, is below the ``highest`` on record."""

    sequence: str
    at: int
    highest: int

    @property
    def remedy(self) -> str:
        """The statement that repairs it."""
        return f"SELECT setval('{self.sequence}', {self.highest})"

    def __str__(self) -> str:
        return f"{self.sequence} is at {self.at}, {self.highest} is on record: {self.remedy};"


def sequences_behind() -> list[Behind]:
    """Every sequence of this record that is behind; reads the end of one index for each."""
    asked = [_of_tokens()]
    for schema, sequence, in_schema, table, column in sql.rows(OWNED):
        highest = composed.SQL(OF_COLUMN).format(
            column=composed.Identifier(column), table=composed.Identifier(in_schema, table)
        )
        owned = composed.Identifier(schema, sequence)
        asked.append(_asked(owned.as_string(None), owned, highest))
    statement = composed.SQL(" UNION ALL ").join(asked)
    with connection.cursor() as cursor:
        cursor.execute(statement.as_string(connection.connection))
        found = [Behind(*row) for row in cursor.fetchall()]
    return [each for each in found if each.at < each.highest]


def _of_tokens() -> composed.Composed:
    return _asked(TOKENS, composed.Identifier(TOKENS), composed.SQL(OF_TOKENS))


def _asked(
    name: str, sequence: composed.Identifier, highest: composed.Composable
) -> composed.Composed:
    return composed.SQL(ONE).format(name=composed.Literal(name), highest=highest, sequence=sequence)
