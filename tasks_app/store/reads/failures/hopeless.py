"""Which dead tasks a requeue cannot help: one of their needs will never be met."""

from typing import Final

from tasks_app.core.jobs.dependencies import HOPELESS

# What a person may ask before a requeue, and the requeue itself, by the same rule of core.
NEVER_RUNS: Final = """d.state IN ('waiting', 'blocked')
       AND (p.status::text, d.on_dead::text) IN (
           SELECT * FROM unnest(%(hopeless)s::text[], %(policies)s::text[]))"""

HOPELESS_PARAMS: Final = {
    "hopeless": [status.value for status, _ in HOPELESS],
    "policies": [policy.value for _, policy in HOPELESS],
}
