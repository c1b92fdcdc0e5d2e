"""What previews of alerts are judged by: the minutes on record, and what was sent."""

from typing import Final

from tasks_app.core.alerts.notification import KEPT_DAYS, Event
from tasks_app.core.dispatch.advice import pinned_worker
from tasks_app.core.settings.alert_previews import AlertsPast, Minute, Told
from tasks_app.core.states import Status
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.counts import count_by_status
from tasks_app.store.reads.dispatch.round_snapshot import worker_facts
from tasks_app.store.reads.dispatch.series import read_oldest
from tasks_app.store.reads.dispatch.vacuum_horizon import oldest_snapshot
from tasks_app.store.reads.settings.configuration import supervisor_settings

# Samples of a minute are kept for 30 days, so that there are 43,200 at most.
MINUTES: Final = """
SELECT extract(epoch FROM statement_timestamp() - at)::float8,
       coalesce((by_status ->> 'DEAD')::int, 0),
       extract(epoch FROM at - oldest_created_at)::float8
  FROM sample
 WHERE resolution = 60
 ORDER BY at
"""


def alerts_past() -> AlertsPast:
    """What stands now, and every minute on record."""
    return AlertsPast(
        dead=count_by_status().get(Status.DEAD, 0),
        oldest=read_oldest().age,
        pinned=pinned_worker(worker_facts(supervisor_settings().stale_after_seconds)),
        snapshot=oldest_snapshot(),
        minutes=[Minute(*row) for row in sql.rows(MINUTES)],
    )


# One beginning is one message to each channel. Those of alerts that stand are kept for longer.
SENT: Final = """
SELECT DISTINCT key, extract(epoch FROM began_at)::float8
  FROM alert_delivery
 WHERE event = %(began)s AND body ->> 'alert' = %(name)s
   AND created_at > statement_timestamp() - %(days)s * interval '1 day'
 ORDER BY 1, 2
 LIMIT 10000
"""

STANDING: Final = """
SELECT count(*)::int FROM alert_state
 WHERE name = %(name)s AND ended_at IS NULL AND missing_since IS NULL
"""


def told_of(name: str) -> Told:
    """The beginnings of an alert that were sent within a week, and how many of it stand."""
    params = {"began": Event.BEGAN, "name": name, "days": KEPT_DAYS}
    sent: dict[str, list[float]] = {}
    for key, at in sql.rows(SENT, params):
        sent.setdefault(key, []).append(at)
    found = sql.row(STANDING, {"name": name})
    return Told(sent, found[0] if found else 0)
