"""The connection that listens is never the one that works."""

from tasks_app.sdk.link import Registration
from tasks_app.services.attempts.direct_link import DirectLink
from tasks_app.services.dispatch.supervisor import run_shift
from tasks_app.store import sql
from tests.floor import Floor

LISTENING = """
SELECT pid FROM pg_stat_activity
 WHERE datname = current_database() AND query LIKE 'LISTEN%%' AND pid <> pg_backend_pid()
"""


def heard_here() -> list[str]:
    """The channels that the working connection of this thread listens on."""
    return [name for (name,) in sql.rows("SELECT pg_listening_channels()")]


def test_a_worker_waits_on_a_connection_of_its_own(floor: Floor) -> None:
    link = DirectLink()
    worker = link.register(Registration("w1", 1, {"job": 1.0})).worker_id
    link.wait_for_work(worker, 0.05)
    link.claim(worker, 1)
    apart = sql.rows(LISTENING)
    assert (heard_here(), len(apart)) == ([], 1)
    link.close()


def test_a_supervisor_waits_on_a_connection_of_its_own(floor: Floor) -> None:
    floor.settings(shift_seconds=30.0, tick_seconds=0.05)
    seen: list[tuple[list[str], int]] = []

    def stopping() -> bool:
        """Asked before each round, on the connection of the rounds."""
        seen.append((heard_here(), len(sql.rows(LISTENING))))
        return len(seen) > 4

    report = run_shift("test", stopping)
    assert report.rounds >= 2
    assert seen[-1] == ([], 1)
