"""What waits for the supervisor beside the ready queue; each round asks with its fence."""

from typing import Final, NamedTuple

LOOK: Final = """
SELECT EXISTS (SELECT FROM job_news),
       EXISTS (SELECT FROM bulk WHERE state IN ('held', 'running')
                  AND look_at <= statement_timestamp())
"""


class Inboxes(NamedTuple):
    """Whether any job waits to be looked at, and whether any bulk is due."""

    jobs: bool
    bulk: bool
