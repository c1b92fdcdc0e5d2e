"""The report of a night finds what went wrong, in the record and in the files."""

from collections.abc import Sequence

import pytest

from examples.ticket_triage import handlers, outbox
from examples.ticket_triage.report import Report, count_open, faults_of, read_report
from examples.ticket_triage.settings import TriageSettings
from examples.ticket_triage.steps import submit_tickets
from examples.ticket_triage.tickets import Ticket
from tasks_app.core.states import Status
from tasks_app.models import Attempt, Task
from tasks_app.sdk.context import Context
from tests.floor import Floor

TICKETS = [
    Ticket("1", "Where is my refund?", "refund_status"),
    Ticket("2", "The bike will not unlock.", "unlock_failed"),
    Ticket("bad", ""),
]


@pytest.fixture
def floor(record: None) -> Floor:
    """A worker that can do both steps, and the tickets submitted to it."""
    floor = Floor()
    floor.worker("w1", slots=10, skills={"classify_ticket": 1.0, "draft_reply": 1.0})
    assert submit_tickets(TICKETS, "night") == 6
    return floor


def step(floor: Floor, label: str = "refund_status") -> None:
    """Hand out what is ready and do it; the malformed ticket fails for good."""
    floor.round()
    for grant in floor.claim("w1"):
        if not grant.payload["text"]:
            floor.fail("w1", grant, type="PermanentError", permanent=True)
        else:
            floor.complete("w1", grant, {"label": label, "confidence": 0.9, "flagged": False})


def send(settings: TriageSettings, times: int = 1) -> None:
    """Write the replies of all completed drafts, as the handler would."""
    settings.folder.mkdir(exist_ok=True)
    box = outbox.KeyedOutbox(settings.outbox)
    for task in Task.objects.filter(kind="draft_reply", status=Status.COMPLETED):
        box.append_once(str(task.id), {})
        for _ in range(times):
            outbox.append(settings.outbox_without_key, {"key": str(task.id)})


def night(floor: Floor) -> None:
    """Do both steps of everything that can be done."""
    step(floor)
    floor.round()
    step(floor)


def report_of(settings: TriageSettings, in_flight: int | None = None) -> Report:
    return read_report(TICKETS, "night", settings, in_flight)


def faults(settings: TriageSettings, needed: int = 0, **figures: int) -> Sequence[str]:
    return faults_of(report_of(settings, **figures), TICKETS, settings, needed)


def test_a_night_that_went_well_has_no_fault(floor: Floor, triage: TriageSettings) -> None:
    night(floor)
    send(triage)
    report = report_of(triage)
    assert (report.tickets, report.completed, report.lost) == (2, 4, 0)
    assert (report.dead, report.waiting_on_dead) == ({"permanent": 1}, 1)
    assert (report.attempts, report.reclaims) == (5, 0)
    assert report.accuracy == 0.5
    assert count_open() == 0
    assert faults(triage) == ["accuracy is 0.5, below 0.8"]


def test_a_file_without_labels_is_judged_without_accuracy(
    floor: Floor, triage: TriageSettings
) -> None:
    night(floor)
    unlabelled = [Ticket(ticket.id, ticket.text) for ticket in TICKETS]
    assert read_report(unlabelled, "night", triage, None).accuracy is None


def test_a_task_in_any_other_state_is_lost(floor: Floor, triage: TriageSettings) -> None:
    assert report_of(triage).lost == 6
    step(floor)
    report = report_of(triage)
    assert report.lost == 2, "two drafts are still to do; the third waits for the DEAD one"
    assert count_open() == 2
    assert "2 tasks are lost" in faults(triage)


def test_a_task_that_is_not_on_record_is_lost(floor: Floor, triage: TriageSettings) -> None:
    night(floor)
    more = [*TICKETS, Ticket("never submitted", "text")]
    assert read_report(more, "night", triage, None).lost == 2


def test_a_second_accepted_completion_is_found(floor: Floor, triage: TriageSettings) -> None:
    night(floor)
    send(triage)
    assert report_of(triage).duplicate_results == 0
    first = Attempt.objects.filter(outcome="completed").earliest("token")
    # No call of the product can make one, so the test writes it.
    Attempt.objects.filter(token=first.token).update(token=10**6)
    Attempt.objects.bulk_create([first])
    assert report_of(triage).duplicate_results == 1
    assert "1 tickets were completed twice" in faults(triage)


def test_a_reply_sent_twice_or_never_is_found(floor: Floor, triage: TriageSettings) -> None:
    night(floor)
    send(triage, times=2)
    report = report_of(triage)
    assert (report.duplicate_effects, report.duplicate_effects_without_key) == (0, 2)
    entry = next(outbox.read(triage.outbox))
    outbox.append(triage.outbox, entry)
    assert "1 replies were sent twice" in faults(triage)
    triage.outbox.unlink()
    assert "2 replies of completed drafts were never sent" in faults(triage)


def test_a_lease_taken_back_is_a_reclaim(floor: Floor, triage: TriageSettings) -> None:
    floor.round()
    (grant,) = floor.claim("w1", limit=1)
    floor.silence("w1", 1000)
    floor.round()
    report = report_of(triage)
    assert grant.attempt == 1
    assert (report.attempts, report.reclaims) == (1, 3), "one had begun, two were only assigned"


def test_chaos_must_have_shown_its_faults(floor: Floor, triage: TriageSettings) -> None:
    night(floor)
    send(triage)
    found = " ".join(faults(triage, needed=900, in_flight=899))
    assert "899 tasks in flight at the restart, not at least 900" in found
    assert "did not show the fault" in found
    assert "nothing was reclaimed" in found


def test_the_handlers_write_what_the_report_reads(floor: Floor, triage: TriageSettings) -> None:
    desk = handlers.Desk(triage)
    floor.round()
    step(floor)
    floor.round()
    for grant in floor.claim("w1"):
        ctx = Context(grant.task_id, kind=grant.kind, key=grant.key, inputs=grant.inputs)
        floor.complete("w1", grant, desk.draft(grant.payload, ctx))
    report = report_of(triage)
    assert (report.completed, report.executions) == (4, 2)
    assert not [fault for fault in faults(triage) if "accuracy" not in fault]
