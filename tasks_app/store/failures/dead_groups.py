"""What people say about dead letters that are alike: whose they are, and a note."""

from tasks_app.store import sql

ASSIGN = """
INSERT INTO dead_group (fingerprint, assigned_to) VALUES (%(fingerprint)s, %(name)s)
ON CONFLICT (fingerprint) DO UPDATE SET assigned_to = excluded.assigned_to
 WHERE dead_group.assigned_to <> excluded.assigned_to
RETURNING fingerprint
"""


def assign(fingerprint: str, name: str) -> bool:
    """Make a group somebody's, or with "" nobody's; False where it is so already."""
    return sql.row(ASSIGN, {"fingerprint": fingerprint, "name": name}) is not None


WRITE_NOTE = """
INSERT INTO dead_group (fingerprint, note) VALUES (%(fingerprint)s, %(note)s)
ON CONFLICT (fingerprint) DO UPDATE SET note = excluded.note
 WHERE dead_group.note <> excluded.note
RETURNING fingerprint
"""


def write_note(fingerprint: str, note: str) -> bool:
    """Write a group's note anew; False where it says so already."""
    return sql.row(WRITE_NOTE, {"fingerprint": fingerprint, "note": note}) is not None
