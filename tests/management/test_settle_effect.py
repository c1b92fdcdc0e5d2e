"""``manage.py settle-effect``: a finding goes on record, and a mistake is one sentence."""

import io
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command

from tasks_app.core.attempts.effects import IfUnsure
from tasks_app.models import AuditEntry, Effect
from tasks_app.services.attempts.effects import begin_effect
from tests.floor import Floor


@pytest.fixture
def in_doubt(record: None) -> UUID:
    """A DEAD task that began to send a reply."""
    floor = Floor()
    worker = floor.worker("w1")
    floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    begin_effect(worker, grant.task_id, grant.token, "send-reply", IfUnsure.FAIL)
    floor.fail("w1", grant, permanent=True)
    return grant.task_id


def settle(*args: object) -> str:
    out = io.StringIO()
    call_command("settle-effect", *map(str, args), "--reason", "mail log", stdout=out)
    return out.getvalue()


def test_what_happened_is_recorded_with_its_result(in_doubt: UUID) -> None:
    said = settle(in_doubt, "send-reply", "happened", "--result", '{"id": 5}')
    assert "settled as happened" in said
    effect = Effect.objects.get()
    assert (effect.state, effect.result) == ("done", {"id": 5})
    assert AuditEntry.objects.get().actor.endswith("at the command line")


def test_what_did_not_happen_is_forgotten(in_doubt: UUID) -> None:
    settle(in_doubt, "send-reply", "undone")
    assert not Effect.objects.exists()


def test_a_wrong_name_or_a_needless_result_is_one_sentence(in_doubt: UUID) -> None:
    with pytest.raises(CommandError, match="no effect 'sendreply'"):
        settle(in_doubt, "sendreply", "happened")
    with pytest.raises(CommandError, match="undone has none"):
        settle(in_doubt, "send-reply", "undone", "--result", "1")
    with pytest.raises(CommandError, match="give the id of a task"):
        settle("not-an-id", "send-reply", "undone")
    assert Effect.objects.get().state == "started"
