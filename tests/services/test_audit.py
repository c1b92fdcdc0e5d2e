"""The audit: appended, chained, never changed, and checked."""

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import ProgrammingError, connection, transaction

from tasks_app.models import AuditEntry
from tasks_app.services.audit_invariants import check_audit
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor
from tasks_app.store.reads.invariants.record_invariants import find_violations
from tasks_app.store.reads.people.audit import AuditFilter, check_chain, every_entry, list_entries
from tests.floor import Floor
from tests.races.conftest import holding

OLIVIA = Actor("olivia", "10.0.0.7", "session 0a1b2c3d")


def acts(count: int = 3) -> list[int]:
    for n in range(count):
        note(OLIVIA, "requeue", f"task {n}", reason="mended", wanted="kind=job", n=n)
    return list(AuditEntry.objects.order_by("id").values_list("id", flat=True))


def run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def tamper(statement: str) -> None:
    """What somebody could do who owns the database and switches its guards off."""
    run(
        "SET session_replication_role = replica;"
        f" {statement}; SET session_replication_role = DEFAULT"
    )


def test_an_entry_says_who_what_when_from_where_on_which_filter_how_many_and_why(
    floor: Floor,
) -> None:
    note(
        OLIVIA,
        "edit",
        "task 7",
        count=4,
        reason="typo",
        wanted="kind=job",
        change=({"a": 1}, {"a": 2}),
        tasks=["7"],
    )
    (entry,) = list_entries(AuditFilter()).rows
    assert (entry.actor, entry.address, entry.via) == ("olivia", "10.0.0.7", "session 0a1b2c3d")
    assert (entry.action, entry.subject, entry.count) == ("edit", "task 7", 4)
    assert (entry.reason, entry.wanted) == ("typo", "kind=job")
    assert (entry.before, entry.after, entry.detail) == ({"a": 1}, {"a": 2}, {"tasks": ["7"]})


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entry SET reason = 'another'",
        "UPDATE audit_entry SET digest = ''",
        "DELETE FROM audit_entry",
        "DELETE FROM audit_head",
    ],
)
def test_the_database_refuses_to_change_the_audit(floor: Floor, statement: str) -> None:
    acts()
    with (
        pytest.raises(ProgrammingError, match="appended to and never changed"),
        transaction.atomic(),
    ):
        run(statement)
    assert check_chain().entries == 3


def test_the_database_refuses_to_empty_the_audit_where_no_test_switched_that_off(
    floor: Floor,
) -> None:
    acts()
    statement = "ALTER TABLE audit_entry ENABLE TRIGGER audit_keep_all; TRUNCATE audit_entry"
    with pytest.raises(ProgrammingError, match="TRUNCATE on audit_entry"), transaction.atomic():
        run(statement)
    assert check_chain().entries == 3


@pytest.mark.parametrize(
    ("statement", "broken_at"),
    [
        ("UPDATE audit_entry SET reason = 'another' WHERE id = 2", 2),
        ("UPDATE audit_entry SET at = at - interval '1 hour' WHERE id = 1", 1),
        ("DELETE FROM audit_entry WHERE id = 2", 3),
        ("DELETE FROM audit_entry WHERE id = 3", 3),
        ("INSERT INTO audit_entry (id, actor, action, subject) VALUES (4, 'x', 'y', 'z')", 4),
        ("DELETE FROM audit_head", 4),
    ],
)
def test_a_guard_switched_off_still_leaves_a_trace_at_the_first_broken_entry(
    floor: Floor, capsys: pytest.CaptureFixture[str], statement: str, broken_at: int
) -> None:
    acts()
    tamper(statement)
    assert check_chain().broken_at == broken_at
    with pytest.raises(SystemExit):
        call_command("audit-verify")
    assert "FAIL" in capsys.readouterr().out
    if "audit_head" not in statement:
        assert find_violations().pop("audit_is_whole")
    tamper("TRUNCATE audit_entry, audit_head")


def test_an_untouched_chain_is_whole_over_many_batches(
    floor: Floor, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.store.reads.people.audit.CHECKED_AT_ONCE", 2)
    assert check_audit().entries == 0
    acts(5)
    assert check_audit().entries == 5
    call_command("audit-verify")
    assert "ok   5 entries" in capsys.readouterr().out


def test_two_acts_at_once_are_numbered_in_the_order_of_the_chain(floor: Floor) -> None:
    acts(1)
    first, second = (
        lambda: note(OLIVIA, "first", "task"),
        lambda: note(OLIVIA, "second", "task"),
    )
    with holding(first, second) as rival:
        rival.join()
    assert list(AuditEntry.objects.order_by("id").values_list("id", "action")) == [
        (1, "requeue"),
        (2, "first"),
        (3, "second"),
    ]
    assert not check_chain().fault


def test_an_act_that_is_rolled_back_leaves_no_gap(floor: Floor) -> None:
    acts(1)
    with transaction.atomic():
        note(OLIVIA, "undone", "task")
        transaction.set_rollback(True)
    assert acts(1) == [1, 2]


def test_pages_join_and_an_export_reads_them_all(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.store.reads.people.audit.PAGE", 2)
    acts(5)
    first = list_entries(AuditFilter())
    second = list_entries(AuditFilter(), before=first.older)
    back = list_entries(AuditFilter(), after=second.newer)
    assert [[row.id for row in page.rows] for page in (first, second, back)] == [
        [5, 4],
        [3, 2],
        [5, 4],
    ]
    monkeypatch.setattr("tasks_app.store.reads.people.audit.EXPORTED_AT_ONCE", 2)
    found = [[entry.id for entry in page] for page in every_entry(AuditFilter())]
    assert found == [[5, 4], [3, 2], [1]]
    (only,) = [entry.id for page in every_entry(AuditFilter(text="task 3")) for entry in page]
    assert only == 4


def test_a_look_is_bounded_and_says_where_it_stopped(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.store.reads.people.audit.LOOKED_AT", 2)
    acts(5)
    page = list_entries(AuditFilter(text="task 0"))
    assert (page.rows, page.older, page.stopped) == ([], 4, True)
    found = every_entry(AuditFilter(text="task 0"))
    assert [entry.id for page in found for entry in page] == [1]


def test_a_persons_session_is_named_without_its_key(floor: Floor) -> None:
    actor = Actor.in_session(
        User(username="olivia", is_superuser=True), "10.0.0.7", "the-secret-key"
    )
    assert actor.via.startswith("session ")
    assert "secret" not in actor.via
