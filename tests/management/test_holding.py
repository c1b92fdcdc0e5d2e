"""``manage.py pause``, ``resume`` and ``cancel``."""

import io
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from tasks_app.models import AuditEntry, Bulk, Job, Kind, Worker
from tasks_app.services.jobs.jobs import submit_job
from tests.floor import Floor


@pytest.fixture
def floor(record: None) -> Floor:
    floor = Floor()
    floor.kind()
    return floor


def run(*args: str) -> str:
    out = io.StringIO()
    call_command(*args, stdout=out)
    return out.getvalue().strip()


def test_a_kind_is_paused_and_resumed_with_its_reason_in_the_audit(floor: Floor) -> None:
    assert run("pause", "kind", "job", "--reason", "down") == "paused"
    assert run("pause", "kind", "job").startswith("nothing changed")
    assert Kind.objects.get().paused
    assert run("resume", "kind", "job") == "resumed"
    assert AuditEntry.objects.earliest("id").reason == "down"
    assert "at the command line" in AuditEntry.objects.earliest("id").actor


def test_a_kind_is_put_into_quarantine_by_hand(floor: Floor) -> None:
    args = ("pause", "kind", "job", "--quarantine", "--reason", "it fills the disk")
    assert run(*args) == "in quarantine"
    assert run(*args).startswith("nothing changed")
    kind = Kind.objects.get()
    assert (kind.paused, kind.quarantined_at is None) == (False, False)


def test_a_quarantine_ends_only_on_demand(floor: Floor) -> None:
    Kind.objects.update(quarantined_at="2030-01-01T00:00:00Z")
    assert run("resume", "kind", "job").startswith("nothing changed")
    assert run("resume", "kind", "job", "--free") == "freed"
    assert Kind.objects.get().quarantined_at is None


def test_a_worker_and_a_job_are_paused_and_resumed(floor: Floor) -> None:
    worker = floor.worker("w1")
    job = submit_job({"steps": [{"name": "a", "kind": "job"}]}).id
    assert run("pause", "worker", "w1") == run("pause", "job", str(job)) == "paused"
    assert (Worker.objects.get(id=worker).drain_asked, Job.objects.get().paused) == (True, True)
    assert run("resume", "worker", str(worker)) == run("resume", "job", str(job)) == "resumed"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("pause", "kind", "jib"), "there is no kind 'jib'"),
        (("pause", "worker", "w9"), "there is no live worker 'w9'"),
        (("pause", "job", "x"), "no id of a job"),
        (("pause", "job", str(uuid4())), "there is no job"),
        (("resume", "job", "x", "--free"), "only a kind"),
        (("pause", "job", "x", "--quarantine"), "only a kind"),
        (("cancel", "job", "x", "--reason", "y"), "no id of a job"),
        (("cancel", "tasks", "status:lost", "--reason", "y"), "query: at character"),
    ],
)
def test_what_is_not_there_is_told(floor: Floor, args: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run(*args)


def test_a_query_is_cancelled_by_a_bulk_after_a_look(floor: Floor) -> None:
    floor.submit(2)
    look = run("cancel", "tasks", "kind:job", "--reason", "a mistake", "--dry-run")
    assert look == "2 tasks would be cancelled"
    assert not Bulk.objects.exists()
    done = run("cancel", "tasks", "kind:job", "--reason", "a mistake")
    bulk = Bulk.objects.get()
    assert done == f"2 tasks will be cancelled in 10 seconds\nbulk {bulk.id}"
    assert bulk.reason == "a mistake"


def test_a_whole_job_is_cancelled(floor: Floor) -> None:
    job = submit_job({"steps": [{"name": "a", "kind": "job"}]}).id
    assert run("cancel", "job", str(job), "--reason", "x") == "asked to end"
    while floor.round().moved:
        pass
    assert Job.objects.get().status == "CANCELLED"
