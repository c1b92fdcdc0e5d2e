"""The audit: one row for each act of a person."""

from collections.abc import Mapping
from typing import Any

from tasks_app.store import sql

RECORD = """
INSERT INTO audit_entry (actor, address, action, subject, count, reason, detail)
VALUES (%(actor)s, %(address)s, %(action)s, %(subject)s, %(count)s, %(reason)s, %(detail)s)
"""


def record(
    *,
    actor: str,
    address: str,
    action: str,
    subject: str,
    count: int,
    reason: str,
    detail: Mapping[str, Any],
) -> None:
    """Write one act, in the transaction of the act itself."""
    sql.execute(
        RECORD,
        {
            "actor": actor,
            "address": address,
            "action": action,
            "subject": subject,
            "count": count,
            "reason": reason,
            "detail": sql.jsonb(dict(detail)),
        },
    )
