"""The audit: one row for each act of a person, appended and never changed.

The database itself chains the rows by their digests and refuses to change any.
"""

from collections.abc import Mapping
from typing import Any, Final

from tasks_app.store import sql

LONGEST_SUBJECT: Final = 200
LONGEST_FILTER: Final = 1000

RECORD = """
INSERT INTO audit_entry
       (actor, address, via, action, subject, count, reason, wanted, before, after, detail)
VALUES (%(actor)s, %(address)s, %(via)s, %(action)s, %(subject)s, %(count)s, %(reason)s,
        %(wanted)s, %(before)s, %(after)s, %(detail)s)
"""


def record(  # noqa: PLR0913  one argument a column
    *,
    actor: str,
    address: str,
    action: str,
    subject: str,
    count: int,
    reason: str,
    detail: Mapping[str, Any],
    via: str = "",
    wanted: str = "",
    before: Any = None,
    after: Any = None,
) -> None:
    """Write one act, in the transaction of the act itself; last in it, for acts queue up here."""
    sql.execute(
        RECORD,
        {
            "actor": actor,
            "address": address,
            "via": via,
            "action": action,
            "subject": subject,
            "count": count,
            "reason": reason,
            "wanted": wanted,
            "before": sql.jsonb(before),
            "after": sql.jsonb(after),
            "detail": sql.jsonb(dict(detail)),
        },
    )
