"""API tokens: made, used, revoked; only digests are kept."""

from collections.abc import Sequence
from datetime import datetime

from tasks_app.store import sql

INSERT = """
INSERT INTO api_token (name, prefix, digest, scopes, expires_at)
VALUES (%(name)s, %(prefix)s, %(digest)s, %(scopes)s, %(expires_at)s)
RETURNING id
"""


def insert_token(
    *, name: str, prefix: str, digest: str, scopes: Sequence[str], expires_at: datetime | None
) -> int:
    """Keep a new token by its prefix and the SHA-256 hex digest of its secret; return its id."""
    found = sql.row(
        INSERT,
        {
            "name": name,
            "prefix": prefix,
            "digest": digest,
            "scopes": list(map(str, scopes)),
            "expires_at": expires_at,
        },
    )
    assert found is not None, "an insert returns its row"
    return int(found[0])


# The use is noted at most once a minute, so that a busy client does not rewrite one row for ever.
FIND_LIVE = """
WITH live AS (
    SELECT id, digest, name, scopes FROM api_token
     WHERE prefix = %(prefix)s AND revoked_at IS NULL
       AND (expires_at IS NULL OR expires_at > statement_timestamp())
), used AS (
    UPDATE api_token t SET last_used_at = statement_timestamp()
      FROM live l
     WHERE t.id = l.id
       AND (t.last_used_at IS NULL
            OR t.last_used_at < statement_timestamp() - interval '1 minute')
)
SELECT digest, name, scopes FROM live
"""


def find_live(prefix: str) -> tuple[str, str, Sequence[str]] | None:
    """Return (digest, name, scopes) of the live token with this prefix, noting its use."""
    found = sql.row(FIND_LIVE, {"prefix": prefix})
    return None if found is None else (str(found[0]), str(found[1]), found[2])


# The lock makes a second rotation at the same moment wait, and then see the first one's token.
LOCK_LIVE = """
SELECT name, scopes FROM api_token
 WHERE prefix = %(prefix)s AND revoked_at IS NULL
   AND (expires_at IS NULL OR expires_at > statement_timestamp())
   FOR UPDATE
"""


def lock_live(prefix: str) -> tuple[str, Sequence[str]] | None:
    """Return (name, scopes) of a live token and hold its row until the transaction ends."""
    found = sql.row(LOCK_LIVE, {"prefix": prefix})
    return None if found is None else (str(found[0]), found[1])


COUNT_LIVE = """
SELECT count(*) FROM api_token
 WHERE name = %(name)s AND revoked_at IS NULL
   AND (expires_at IS NULL OR expires_at > statement_timestamp())
"""


def count_live(name: str) -> int:
    """How many live tokens have this name."""
    found = sql.row(COUNT_LIVE, {"name": name})
    return 0 if found is None else int(found[0])


EXPIRE = """
UPDATE api_token
   SET expires_at = least(expires_at, statement_timestamp() + %(seconds)s * interval '1 second')
 WHERE prefix = %(prefix)s
RETURNING expires_at
"""


def expire_within(prefix: str, seconds: float) -> datetime | None:
    """Have a token end in so many seconds at the latest; return when."""
    found = sql.row(EXPIRE, {"prefix": prefix, "seconds": seconds})
    return None if found is None else found[0]


REVOKE = """
UPDATE api_token SET revoked_at = statement_timestamp()
 WHERE prefix = %(prefix)s AND revoked_at IS NULL
"""


def revoke(prefix: str) -> bool:
    """End a token at once."""
    return sql.execute(REVOKE, {"prefix": prefix}) == 1
