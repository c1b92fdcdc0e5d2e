"""Effects that meet on two connections: the lease decides, not what was true a moment before."""

from typing import Any

from django.db import transaction

from tasks_app.core.attempts.effects import EffectVerdict, IfUnsure
from tasks_app.models import Effect
from tasks_app.sdk.link import EffectStart, Grant
from tasks_app.services.attempts.effects import begin_effect, finish_effect
from tests.floor import Floor
from tests.races.conftest import Rival, holding

SEND = "send-reply"


def running(floor: Floor) -> Grant:
    """A task that w1 has begun, and a second worker to take it over."""
    floor.worker("w1")
    floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    floor.worker("w2")
    return grant


def take_over(floor: Floor) -> Grant:
    """Reclaim from w1, dispatch to w2 and start there."""
    floor.silence("w1", 100)
    floor.round()
    floor.round()
    (grant,) = floor.claim("w2")
    return grant


def begin(floor: Floor, name: str, grant: Grant, if_unsure: IfUnsure) -> EffectStart:
    return begin_effect(floor.workers[name], grant.task_id, grant.token, SEND, if_unsure)


def finish(floor: Floor, name: str, grant: Grant, result: Any) -> bool:
    return finish_effect(floor.workers[name], grant.task_id, grant.token, SEND, result)


def test_a_begin_that_waited_for_a_take_over_is_refused(floor: Floor) -> None:
    first = running(floor)
    with holding(
        lambda: take_over(floor), lambda: begin(floor, "w1", first, IfUnsure.RUN)
    ) as rival:
        assert rival.join() == EffectStart(EffectVerdict.STALE)
    assert not Effect.objects.exists()


def test_of_two_holders_the_new_one_alone_begins(floor: Floor) -> None:
    first = running(floor)

    def take_over_and_begin() -> None:
        second = take_over(floor)
        assert begin(floor, "w2", second, IfUnsure.FAIL).verdict is EffectVerdict.RUN

    with holding(take_over_and_begin, lambda: begin(floor, "w1", first, IfUnsure.RUN)) as rival:
        assert rival.join().verdict is EffectVerdict.STALE
    effect = Effect.objects.get()
    assert effect.token > first.token
    assert effect.repeats == 0


def test_a_finish_that_waited_for_a_take_over_changes_nothing(floor: Floor) -> None:
    first = running(floor)
    begin(floor, "w1", first, IfUnsure.FAIL)

    def take_over_and_repeat() -> None:
        second = take_over(floor)
        assert begin(floor, "w2", second, IfUnsure.RUN).verdict is EffectVerdict.RUN

    with holding(take_over_and_repeat, lambda: finish(floor, "w1", first, "late")) as rival:
        assert rival.join() is False
    effect = Effect.objects.get()
    assert (effect.state, effect.result, effect.repeats) == ("started", None, 1)


def test_a_begin_that_waited_for_the_finish_of_the_same_lease_sees_its_result(
    floor: Floor,
) -> None:
    grant = running(floor)
    begin(floor, "w1", grant, IfUnsure.FAIL)
    with holding(
        lambda: finish(floor, "w1", grant, "sent"),
        lambda: begin(floor, "w1", grant, IfUnsure.RUN),
    ) as rival:
        assert rival.join() == EffectStart(EffectVerdict.RECORDED, "sent", grant.token)


def test_a_sweep_passes_over_a_task_whose_effect_is_being_recorded(floor: Floor) -> None:
    grant = running(floor)
    begin(floor, "w1", grant, IfUnsure.FAIL)
    floor.silence("w1", 100)
    with transaction.atomic():
        assert finish(floor, "w1", grant, "sent")
        assert Rival(floor.round).join().reclaimed == 0
    assert floor.round().reclaimed == 1
    assert Effect.objects.get().state == "done"
