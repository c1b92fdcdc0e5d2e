"""The demo's tickets, submitted in waves."""

import contextlib
from collections.abc import Iterator, Sequence

import pytest
from django.db import OperationalError, connection

from examples.ticket_triage import demo
from examples.ticket_triage.kinds import ANSWER, CLASSIFY, DRAFT
from examples.ticket_triage.settings import OWN_TICKETS
from examples.ticket_triage.steps import submit_with_people
from examples.ticket_triage.tickets import Ticket, read_tickets
from tasks_app.models import Dependency, Job, Kind, Task
from tasks_app.store.reads.jobs.inbox import list_waiting
from tests.people import PeopleFloor


def test_waves_hold_each_ticket_once_and_last_some_minutes() -> None:
    tickets = read_tickets(OWN_TICKETS)
    waves = list(demo.waves(tickets))
    assert [ticket for wave in waves for ticket in wave] == list(tickets)
    assert 120 < len(waves) * demo.PAUSE_SECONDS < 400


def test_a_second_run_adds_nothing(
    record: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "PAUSE_SECONDS", 0.0)
    Kind.objects.bulk_create([Kind(name="classify_ticket"), Kind(name="draft_reply")])
    tickets = len(read_tickets(OWN_TICKETS))
    assert demo.main() == 0
    assert (Task.objects.count(), Dependency.objects.count()) == (3 * tickets, 3 * tickets)
    assert f"{tickets} are new" in capsys.readouterr().out
    assert demo.main() == 0
    assert Task.objects.count() == 3 * tickets
    assert capsys.readouterr().out.count("\n") == 1, "no wave, only the last line"


def test_a_wave_outlives_a_connection_that_the_server_ends(
    record: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "PAUSE_SECONDS", 0.0)
    Kind.objects.bulk_create([Kind(name="classify_ticket"), Kind(name="draft_reply")])
    original = demo.waves

    def cut_off(tickets: Sequence[Ticket]) -> Iterator[Sequence[Ticket]]:
        for wave in original(tickets):
            with connection.cursor() as cursor, contextlib.suppress(OperationalError):
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
            yield wave

    monkeypatch.setattr(demo, "waves", cut_off)
    assert demo.main() == 0
    assert Task.objects.count() == 3 * len(read_tickets(OWN_TICKETS))
    assert "the database is away" in capsys.readouterr().out


def test_without_a_worker_the_demo_says_what_is_missing(
    record: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "PATIENCE_SECONDS", 0.0)
    assert demo.main() == 1
    assert "No worker offers" in capsys.readouterr().out


def test_a_ticket_that_the_classifier_flags_waits_for_a_person_and_another_does_not(
    record: None,
) -> None:
    floor = PeopleFloor()
    floor.worker("w1", slots=9, skills={CLASSIFY: 1.0, DRAFT: 1.0})
    sure, unsure = Ticket("T-1", "My bike is broken"), Ticket("T-2", "Hm")
    assert submit_with_people([sure, unsure], "night") == 2
    for grant in floor.all_next():
        flagged = grant.payload["ticket"] == unsure.id
        verdict = {"label": "damaged_bike", "confidence": 0.5, "flagged": flagged}
        floor.complete("w1", grant, verdict)
    for grant in floor.all_next():
        floor.complete("w1", grant, {"reply": "Thank you."})
    floor.until_still()
    (step,) = list_waiting().rows
    assert (step.kind, step.job) == (ANSWER, "ticket T-2")
    answer = {"topic": "damaged_bike", "answer": "We are sorry, and have mended it."}
    assert floor.decide(step.id, floor.take(step.id).token, answer).done
    floor.until_still()
    assert [job.result for job in Job.objects.filter(status="COMPLETED").order_by("id")] == [
        {"label": "damaged_bike", "reply": "Thank you.", "answer": None},
        {"label": "damaged_bike", "reply": "Thank you.", "answer": answer["answer"]},
    ]
    floor.assert_invariants()
