"""Two people, or a person and the supervisor, at the same step in the same instant."""

from collections.abc import Iterator

import pytest
from django.db import transaction

from tasks_app.core.states import Status
from tasks_app.models import AuditEntry, Lease, Task
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.jobs.human_steps import Claimed, Refused, claim_step, extend_step
from tests.people import APPROVED, PeopleFloor
from tests.races.conftest import Rival, holding


@pytest.fixture
def floor(record: None) -> Iterator[PeopleFloor]:
    floor = PeopleFloor()
    floor.people_do()
    yield floor
    floor.assert_invariants()


def test_of_two_people_who_take_a_step_at_once_exactly_one_gets_it(floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    rita, otto = floor.person("rita"), floor.person("otto")
    won: list[Claimed | Refused] = []
    with holding(
        lambda: won.append(claim_step(task, *rita)), lambda: claim_step(task, *otto)
    ) as other:
        lost = other.join()
    assert isinstance(won[0], Claimed)
    assert lost == Refused("rita has it.")
    assert Lease.objects.get().token == won[0].token
    assert AuditEntry.objects.get().actor == "rita"


def test_of_ten_people_at_once_one_gets_a_step(floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    people = [floor.person(f"p{n}") for n in range(10)]
    with transaction.atomic():
        Task.objects.select_for_update().get(id=task)
        rivals = [Rival(lambda who=who: claim_step(task, *who)) for who in people]  # type: ignore[misc]  # mypy infers no default of a lambda
    ends = [rival.join() for rival in rivals]
    assert sum(isinstance(end, Claimed) for end in ends) == 1
    assert Lease.objects.count() == 1


def test_a_lock_taken_by_a_person_in_the_midst_of_a_round_is_theirs(floor: PeopleFloor) -> None:
    floor.worker("w1")
    (machine,), (step,) = floor.submit(), floor.submit(kind="review")
    Task.objects.update(lock_key="shelf")
    rita = floor.person("rita")
    # The round has seen the lock free, and waits at the index of leases.
    with holding(lambda: claim_step(step, *rita), floor.round) as round_:
        assert round_.join().dispatched == 0
    assert floor.status(machine) is Status.PENDING
    assert Lease.objects.get().task_id == step


def test_a_person_who_comes_second_to_a_lock_is_told_so(floor: PeopleFloor) -> None:
    floor.worker("w1")
    (machine,), (step,) = floor.submit(), floor.submit(kind="review")
    Task.objects.update(lock_key="shelf")
    rita = floor.person("rita")
    with holding(floor.round, lambda: claim_step(step, *rita)) as claim:
        assert claim.join() == Refused(f"Task {machine} holds its lock.")


def test_an_answer_that_waited_for_the_sweep_is_late(floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    claimed = floor.take(task)
    floor.time_runs_out(task)
    with holding(floor.round, lambda: floor.decide(task, claimed.token, APPROVED)) as answer:
        assert not answer.join().done
    assert floor.status(task) is Status.PENDING


def test_a_sweep_passes_over_a_step_that_is_being_extended_or_completed(
    floor: PeopleFloor,
) -> None:
    (task,) = floor.submit(kind="review")
    claimed, rita = floor.take(task), floor.person("rita")
    floor.time_runs_out(task)
    with transaction.atomic():
        assert extend_step(task, claimed.token, *rita)
        assert Rival(floor.round).join().reclaimed == 0
    floor.time_runs_out(task)
    with transaction.atomic():
        assert floor.decide(task, claimed.token, APPROVED).done
        assert Rival(floor.round).join().reclaimed == 0
    assert floor.status(task) is Status.COMPLETED


def test_an_answer_that_waited_for_a_cancel_is_late(floor: PeopleFloor) -> None:
    (task,) = floor.submit(kind="review")
    claimed = floor.take(task)
    with holding(
        lambda: cancel_tasks([task], floor.operator),
        lambda: floor.decide(task, claimed.token, APPROVED),
    ) as answer:
        assert not answer.join().done
    assert floor.status(task) is Status.CANCELLED
