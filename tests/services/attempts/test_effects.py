"""Effects on the real record: begun and finished by the holder of the lease and nobody else."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from tasks_app.core.attempts.effects import EffectVerdict, IfUnsure
from tasks_app.models import AuditEntry, Effect
from tasks_app.sdk.link import EffectStart, Grant
from tasks_app.services.actions import operations
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.attempts.direct_link import DirectLink
from tasks_app.services.attempts.effects import (
    NotInDoubt,
    begin_effect,
    finish_effect,
    settle_effect,
    take_back_effect,
)
from tasks_app.services.people.people import Actor
from tests.floor import Floor

SEND = "send-reply"
HUMAN = Actor("maria")


def running(floor: Floor, name: str = "w1") -> Grant:
    """One task that a fresh worker has begun."""
    floor.worker(name)
    floor.submit()
    floor.round()
    (grant,) = floor.claim(name)
    return grant


def taken_over(floor: Floor, by: str = "w2") -> Grant:
    """The task's next attempt: its worker fell silent and another one has it."""
    floor.silence("w1", 100)
    floor.round()
    floor.worker(by)
    floor.round()
    (grant,) = floor.claim(by)
    return grant


def begin(
    floor: Floor, name: str, grant: Grant, if_unsure: IfUnsure = IfUnsure.FAIL
) -> EffectStart:
    return begin_effect(floor.workers[name], grant.task_id, grant.token, SEND, if_unsure)


def finish(floor: Floor, name: str, grant: Grant, result: Any = None) -> bool:
    return finish_effect(floor.workers[name], grant.task_id, grant.token, SEND, result)


def take_back(floor: Floor, name: str, grant: Grant) -> bool:
    return take_back_effect(floor.workers[name], grant.task_id, grant.token, SEND)


def on_record(task: UUID) -> Effect:
    return Effect.objects.get(task_id=task, name=SEND)


@pytest.mark.parametrize("result", [None, 7, "text", {"id": "m1", "to": [None, "ü"]}])
def test_a_second_attempt_gets_the_recorded_result(floor: Floor, result: Any) -> None:
    first = running(floor)
    assert begin(floor, "w1", first) == EffectStart(EffectVerdict.RUN)
    assert finish(floor, "w1", first, result)
    second = taken_over(floor)
    assert begin(floor, "w2", second) == EffectStart(EffectVerdict.RECORDED, result, first.token)
    assert begin(floor, "w2", second, IfUnsure.RUN).verdict is EffectVerdict.RECORDED
    effect = on_record(first.task_id)
    assert (effect.state, effect.token, effect.repeats) == ("done", first.token, 0)


def test_a_requeue_forgets_no_effect(floor: Floor) -> None:
    first = running(floor)
    begin(floor, "w1", first)
    finish(floor, "w1", first, "sent")
    floor.fail("w1", first, permanent=True)
    assert operations.requeue([first.task_id], HUMAN).done == {first.task_id}
    floor.round()
    (second,) = floor.claim("w1")
    assert second.key == first.key
    assert begin(floor, "w1", second).result == "sent"


def test_a_late_holder_can_neither_begin_nor_finish_nor_take_back(floor: Floor) -> None:
    first = running(floor)
    begin(floor, "w1", first)
    floor.silence("w1", 100)
    floor.round()
    for call in (finish, take_back):
        assert call(floor, "w1", first) is False, "nobody holds the lease"
    floor.worker("w2")
    floor.round()
    (second,) = floor.claim("w2")
    assert begin(floor, "w1", first) == EffectStart(EffectVerdict.STALE)
    assert begin(floor, "w2", second, IfUnsure.RUN).verdict is EffectVerdict.RUN
    for call in (finish, take_back):
        assert call(floor, "w1", first) is False, "somebody else holds it"
    effect = on_record(first.task_id)
    assert (effect.state, effect.token) == ("started", second.token)
    assert finish(floor, "w2", second, "by w2")
    assert on_record(first.task_id).result == "by w2"


def test_a_worker_cannot_speak_for_anothers_lease(floor: Floor) -> None:
    grant = running(floor)
    floor.worker("w2")
    assert begin(floor, "w2", grant).verdict is EffectVerdict.STALE
    assert begin(floor, "w1", grant).verdict is EffectVerdict.RUN
    assert not finish(floor, "w2", grant, "stolen")
    assert on_record(grant.task_id).state == "started"


def test_nothing_is_begun_before_the_claim_or_after_the_report(floor: Floor) -> None:
    floor.settings(backlog=2)
    grant = running(floor)
    floor.submit()
    floor.round()
    floor.complete("w1", grant)
    assert begin(floor, "w1", grant).verdict is EffectVerdict.STALE
    assert not Effect.objects.exists()


def test_a_start_left_in_doubt_is_not_taken_over_unasked(floor: Floor) -> None:
    first = running(floor)
    begin(floor, "w1", first)
    second = taken_over(floor)
    unsure = EffectStart(EffectVerdict.UNSURE, begun_under=first.token)
    assert begin(floor, "w2", second) == unsure
    assert begin(floor, "w2", second) == unsure, "and asking does not make it ours"
    effect = on_record(first.task_id)
    assert (effect.token, effect.repeats) == (first.token, 0)


def test_a_repetition_is_counted_and_its_doubt_cannot_be_taken_back(floor: Floor) -> None:
    first = running(floor)
    begin(floor, "w1", first)
    second = taken_over(floor)
    for _ in range(2):
        assert begin(floor, "w2", second, IfUnsure.RUN).verdict is EffectVerdict.RUN
    assert on_record(first.task_id).repeats == 1, "the second call was the same start"
    assert take_back(floor, "w2", second)
    assert on_record(first.task_id).state == "started", "the first attempt may have done it"


def test_a_start_of_ones_own_can_be_taken_back_and_begun_again(floor: Floor) -> None:
    grant = running(floor)
    begin(floor, "w1", grant)
    for _ in range(2):
        assert take_back(floor, "w1", grant)
    assert not Effect.objects.exists()
    assert begin(floor, "w1", grant).verdict is EffectVerdict.RUN


def test_a_repeated_finish_is_accepted_and_changes_nothing(floor: Floor) -> None:
    grant = running(floor)
    begin(floor, "w1", grant)
    assert finish(floor, "w1", grant, "first")
    assert finish(floor, "w1", grant, "second")
    assert take_back(floor, "w1", grant)
    assert on_record(grant.task_id).result == "first"


def test_effects_of_one_task_stand_apart_by_their_names(floor: Floor) -> None:
    grant = running(floor)
    begin(floor, "w1", grant)
    finish(floor, "w1", grant, "sent")
    link = DirectLink()
    lease = (floor.workers["w1"], grant.task_id, grant.token)
    assert link.begin_effect(*lease, "charge", IfUnsure.FAIL) == EffectStart(EffectVerdict.RUN)
    assert link.finish_effect(*lease, "charge", 12)
    assert link.begin_effect(*lease, "refund", IfUnsure.FAIL).verdict is EffectVerdict.RUN
    assert link.take_back_effect(*lease, "refund")
    assert dict(Effect.objects.values_list("name", "result")) == {SEND: "sent", "charge": 12}
    link.close()


@pytest.fixture
def in_doubt(floor: Floor) -> Grant:
    """A DEAD task, one of whose effects may or may not have happened."""
    grant = running(floor)
    begin(floor, "w1", grant)
    floor.fail("w1", grant, permanent=True)
    return grant


def again(floor: Floor, grant: Grant) -> EffectStart:
    """What the attempt after a requeue is told."""
    operations.requeue([grant.task_id], HUMAN)
    floor.round()
    (second,) = floor.claim("w1")
    return begin(floor, "w1", second)


def test_a_requeue_alone_settles_nothing(floor: Floor, in_doubt: Grant) -> None:
    assert again(floor, in_doubt).verdict is EffectVerdict.UNSURE


def test_what_a_human_found_done_is_not_done_again(floor: Floor, in_doubt: Grant) -> None:
    settle_effect(
        in_doubt.task_id, SEND, HUMAN, "it is in the mail log", happened=True, result={"id": 5}
    )
    assert again(floor, in_doubt).result == {"id": 5}
    entry = AuditEntry.objects.get(action="settle effect")
    assert (entry.actor, entry.subject) == ("maria", str(in_doubt.task_id))
    assert entry.detail == {"effect": SEND, "happened": True}
    assert entry.reason == "it is in the mail log"


def test_what_a_human_found_undone_is_done(floor: Floor, in_doubt: Grant) -> None:
    settle_effect(in_doubt.task_id, SEND, HUMAN, "no such mail", happened=False)
    assert again(floor, in_doubt).verdict is EffectVerdict.RUN


@pytest.mark.parametrize("happened", [True, False])
def test_only_what_is_in_doubt_can_be_settled(
    floor: Floor, in_doubt: Grant, happened: bool
) -> None:
    def settle(task: UUID = in_doubt.task_id, name: str = SEND, reason: str = "seen") -> None:
        settle_effect(task, name, HUMAN, reason, happened=happened)

    refused: list[tuple[Callable[[], None], type[Exception], str]] = [
        (lambda: settle(name="charge"), NotInDoubt, "no effect 'charge'"),
        (lambda: settle(task=UUID(int=7)), NotInDoubt, "does not exist"),
        (lambda: settle(reason="  "), ValueError, "reason"),
    ]
    for call, error, sentence in refused:
        with pytest.raises(error, match=sentence):
            call()
    operations.requeue([in_doubt.task_id], HUMAN)
    floor.round()
    floor.claim("w1")
    with pytest.raises(NotInDoubt, match="RUNNING"):
        settle()
    assert on_record(in_doubt.task_id).state == "started"
    assert not AuditEntry.objects.filter(action="settle effect").exists()


def test_what_is_done_needs_no_settling(floor: Floor) -> None:
    grant = running(floor)
    begin(floor, "w1", grant)
    finish(floor, "w1", grant, "sent")
    floor.fail("w1", grant, permanent=True)
    for happened in (True, False):
        with pytest.raises(NotInDoubt, match="not finished"):
            settle_effect(grant.task_id, SEND, HUMAN, "sure", happened=happened)
    assert on_record(grant.task_id).result == "sent"


def test_an_older_token_of_ones_own_is_worth_nothing(floor: Floor) -> None:
    first = running(floor)
    worker_protocol.release(floor.workers["w1"], [first.token])
    floor.round()
    (second,) = floor.claim("w1")
    assert second.task_id == first.task_id
    assert begin(floor, "w1", first).verdict is EffectVerdict.STALE
    begin(floor, "w1", second)
    assert not finish(floor, "w1", first, "old")
    assert not take_back(floor, "w1", first)
    assert on_record(first.task_id).state == "started"
