"""Files of tickets and the settings of the example."""

from collections.abc import Callable
from pathlib import Path

import pytest

from examples.ticket_triage.settings import OWN_HISTORY, OWN_TICKETS, from_environment
from examples.ticket_triage.tickets import Ticket, TicketsError, read_tickets


def test_the_own_tickets_are_labelled_with_what_the_history_teaches() -> None:
    tickets = read_tickets(OWN_TICKETS)
    labels = {ticket.label for ticket in read_tickets(OWN_HISTORY)}
    assert len(labels) == 8
    assert {ticket.label for ticket in tickets if ticket.text} == labels
    assert len({ticket.id for ticket in tickets}) == len(tickets)
    assert sum(not ticket.text for ticket in tickets) == 6, "a few are malformed, to be seen DEAD"


def test_no_ticket_stands_in_the_history_too() -> None:
    learned = {ticket.text for ticket in read_tickets(OWN_HISTORY)}
    assert not learned & {ticket.text for ticket in read_tickets(OWN_TICKETS)}


def test_only_the_text_is_asked_of_a_file(csv_of: Callable[..., Path]) -> None:
    path = csv_of("text", '"two', 'lines"', "other")
    assert read_tickets(path) == [Ticket("00001", "two\nlines"), Ticket("00002", "other")]


def test_the_column_of_labels_has_either_name(csv_of: Callable[..., Path]) -> None:
    path = csv_of("id,label,text", "7,refund,Where is it?", "8,,No label here")
    assert read_tickets(path) == [
        Ticket("7", "Where is it?", "refund"),
        Ticket("8", "No label here"),
    ]


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["body,category", "a,b"], "has no column 'text'; its columns: body, category"),
        (["text,category"], "holds no ticket"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_reason(
    csv_of: Callable[..., Path], lines: list[str], fault: str
) -> None:
    with pytest.raises(TicketsError, match=fault):
        read_tickets(csv_of(*lines))


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TicketsError, match="cannot be read"):
        read_tickets(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes(b"text\nGr\xfc\xdfe\n")
    with pytest.raises(TicketsError, match="cannot be read"):
        read_tickets(tmp_path / "latin.csv")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("TRIAGE_LATENCY", "3-1", "is '3-1': set it to seconds"),
        ("TRIAGE_LATENCY", "soon", "is 'soon': set it to seconds"),
        ("TRIAGE_LATENCY", "1-inf", "is '1-inf': set it to seconds"),
        ("TRIAGE_TRANSIENT_SHARE", "5", "is '5': set it to a number from 0 to 1"),
        ("TRIAGE_TRANSIENT_SHARE", "nan", "is 'nan': set it to a number from 0 to 1"),
        ("TRIAGE_HISTORY", "nowhere.csv", "names no file"),
    ],
)
def test_a_wrong_setting_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match=f"Setting {name} {sentence}"):
        from_environment()


def test_settings_are_read_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRIAGE_FOLDER", str(tmp_path))
    monkeypatch.setenv("TRIAGE_LATENCY", "0.25")
    found = from_environment()
    assert (found.history, found.folder) == (OWN_HISTORY, tmp_path)
    assert (found.latency, found.transient_share) == ((0.25, 0.25), 0.05)
