"""What handlers log reaches the record with the heartbeat and with the report."""

from uuid import UUID

from tasks_app.sdk.link import Completion, Progress
from tasks_app.sdk.task_log import LogLine
from tasks_app.services.attempts import worker_protocol
from tasks_app.store.reads.attempts.task_logs import list_lines
from tests.floor import Floor

FIRST, SECOND = LogLine(1.0, "INFO", "begun"), LogLine(2.0, "ERROR", "half of it is missing")


def texts(task: UUID) -> list[list[str]]:
    return [[line.text for line in lines] for lines in list_lines(task).values()]


def test_lines_come_with_the_heartbeat_and_the_report_and_stay(floor: Floor) -> None:
    worker = floor.worker("w1")
    (task,) = floor.submit(1)
    floor.round()
    (grant,) = floor.claim("w1")
    said = Progress(grant.token, None, lines=[FIRST])
    worker_protocol.heartbeat(worker, [grant.token], [said])
    assert texts(task) == [["begun"]]
    done = Completion(task, grant.token, {}, lines=[FIRST, SECOND])
    assert worker_protocol.complete(worker, [done]) == []
    assert texts(task) == [["begun", "half of it is missing"]]


def test_lines_of_a_lease_that_a_worker_never_held_are_not_kept(floor: Floor) -> None:
    floor.worker("w1")
    stranger = floor.worker("w2", skills={"other": 1})
    (task,) = floor.submit(1)
    floor.round()
    (grant,) = floor.claim("w1")
    forged = Progress(grant.token, 0.5, lines=[FIRST])
    worker_protocol.heartbeat(stranger, [], [forged, Progress(10**12, 0.5, lines=[FIRST])])
    assert texts(task) == []
