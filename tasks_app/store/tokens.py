"""API tokens: made, used, revoked; only digests are kept."""

from datetime import datetime

from tasks_app.store import sql

INSERT = """
INSERT INTO api_token (name, prefix, digest, user_id, expires_at)
VALUES (%(name)s, %(prefix)s, %(digest)s, %(user)s, %(expires_at)s)
"""


def insert_token(
    *, name: str, prefix: str, digest: str, user: int | None, expires_at: datetime | None
) -> None:
    """Keep a new token by its prefix and the SHA-256 hex digest of its secret."""
    sql.execute(
        INSERT,
        {
            "name": name,
            "prefix": prefix,
            "digest": digest,
            "user": user,
            "expires_at": expires_at,
        },
    )


# The use is noted at most once a minute, so that a busy client does not rewrite one row for ever.
FIND_LIVE = """
WITH live AS (
    SELECT id, digest, name FROM api_token
     WHERE prefix = %(prefix)s AND revoked_at IS NULL
       AND (expires_at IS NULL OR expires_at > statement_timestamp())
), used AS (
    UPDATE api_token t SET last_used_at = statement_timestamp()
      FROM live l
     WHERE t.id = l.id
       AND (t.last_used_at IS NULL
            OR t.last_used_at < statement_timestamp() - interval '1 minute')
)
SELECT digest, name FROM live
"""


def find_live(prefix: str) -> tuple[str, str] | None:
    """Return (digest, name) of the live token with this prefix, noting its use."""
    found = sql.row(FIND_LIVE, {"prefix": prefix})
    return None if found is None else (str(found[0]), str(found[1]))


REVOKE = """
UPDATE api_token SET revoked_at = statement_timestamp()
 WHERE prefix = %(prefix)s AND revoked_at IS NULL
"""


def revoke(prefix: str) -> bool:
    """End a token at once."""
    return sql.execute(REVOKE, {"prefix": prefix}) == 1
