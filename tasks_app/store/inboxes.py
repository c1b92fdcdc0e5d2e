"""What waits for the supervisor beside the ready queue: one question a round."""

from tasks_app.store import sql

LOOK = """
SELECT EXISTS (SELECT FROM job_news),
       EXISTS (SELECT FROM bulk WHERE state IN ('held', 'running')
                  AND look_at <= statement_timestamp())
"""


def look() -> tuple[bool, bool]:
    """Whether any job waits to be looked at, and whether any bulk is due."""
    found = sql.row(LOOK)
    assert found is not None  # a SELECT without FROM has one row
    return bool(found[0]), bool(found[1])
