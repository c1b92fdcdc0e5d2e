"""The demo's tickets, submitted in waves."""

import contextlib
from collections.abc import Iterator, Sequence

import pytest
from django.db import OperationalError, connection

from examples.ticket_triage import demo
from examples.ticket_triage.settings import OWN_TICKETS
from examples.ticket_triage.tickets import Ticket, read_tickets
from tasks_app.models import Dependency, Kind, Task


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
    assert (Task.objects.count(), Dependency.objects.count()) == (2 * tickets, tickets)
    assert f"{2 * tickets} tasks are new" in capsys.readouterr().out
    assert demo.main() == 0
    assert Task.objects.count() == 2 * tickets
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
    assert Task.objects.count() == 2 * len(read_tickets(OWN_TICKETS))
    assert "the database is away" in capsys.readouterr().out


def test_without_a_worker_the_demo_says_what_is_missing(
    record: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "PATIENCE_SECONDS", 0.0)
    assert demo.main() == 1
    assert "No worker offers" in capsys.readouterr().out
