"""Pairs of acts that meet on the same rows: one wins, the other learns that it lost."""

from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction

from tasks_app.core.facts import Assignment
from tasks_app.core.intake.new_tasks import Dependency, NewTask
from tasks_app.core.settings.retention import Kept
from tasks_app.core.states import OnDead, Status
from tasks_app.models import AuditEntry, Lease, Task, Worker
from tasks_app.models import Dependency as EdgeRow
from tasks_app.sdk.link import Grant, WorkerUnknown
from tasks_app.services.actions import operations
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.actions.kind_holds import pause_kind
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.dispatch.rounds import Deposed
from tasks_app.services.intake.submission import SubmissionInvalid, submit_tasks
from tasks_app.services.people.people import Actor
from tasks_app.store.attempts import sweep
from tasks_app.store.dispatch import dispatch, leader
from tasks_app.store.intake.needed_tasks import check_keys
from tasks_app.store.settings import pruning
from tests.floor import Floor
from tests.races.conftest import Rival, holding, waiting_for_locks
from tests.waiting import wait_for

OPERATOR = Actor("op")


def running(floor: Floor) -> Grant:
    """A task that w1 has begun."""
    floor.worker("w1", slots=4)
    floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    return grant


def dead(floor: Floor) -> UUID:
    """A task that is DEAD."""
    grant = running(floor)
    floor.fail("w1", grant, permanent=True)
    return grant.task_id


def test_a_sweep_passes_over_what_is_being_completed(floor: Floor) -> None:
    grant = running(floor)
    floor.silence("w1", 100)
    with transaction.atomic():
        assert floor.complete("w1", grant) == []
        sweep = Rival(floor.round)
        report = sweep.join()
    assert report.reclaimed == 0, "it does not wait either: the completion holds the row"
    assert floor.status(grant.task_id) is Status.COMPLETED


def test_a_completion_that_waited_for_a_sweep_is_late(floor: Floor) -> None:
    grant = running(floor)
    floor.silence("w1", 100)
    with holding(floor.round, lambda: floor.complete("w1", grant)) as completion:
        assert completion.join() == [grant.token]
    assert floor.status(grant.task_id) is Status.PENDING


def test_a_completion_that_waited_for_a_cancel_still_counts(floor: Floor) -> None:
    grant = running(floor)
    with holding(
        lambda: cancel_tasks([grant.task_id], OPERATOR), lambda: floor.complete("w1", grant)
    ) as completion:
        assert completion.join() == []
    assert floor.status(grant.task_id) is Status.COMPLETED


def test_a_cancel_that_waited_for_a_completion_is_refused(floor: Floor) -> None:
    grant = running(floor)
    with holding(
        lambda: floor.complete("w1", grant), lambda: cancel_tasks([grant.task_id], OPERATOR)
    ) as cancel:
        result = cancel.join()
    assert (result.done, result.asked) == (set(), set())
    assert result.refused == {grant.task_id: "It is COMPLETED and has ended."}


def test_a_completion_that_waited_for_an_eviction_is_late(floor: Floor) -> None:
    grant = running(floor)
    with holding(
        lambda: operations.evict_worker(floor.workers["w1"], OPERATOR, "it hangs"),
        lambda: floor.complete("w1", grant),
    ) as completion:
        assert completion.join() == [grant.token]
    assert floor.status(grant.task_id) is Status.PENDING


def test_an_eviction_that_waited_for_a_completion_takes_nothing_from_it(floor: Floor) -> None:
    grant = running(floor)
    with holding(
        lambda: floor.complete("w1", grant),
        lambda: operations.evict_worker(floor.workers["w1"], OPERATOR, "it hangs"),
    ) as eviction:
        assert eviction.join() == 0
    assert floor.status(grant.task_id) is Status.COMPLETED


def test_two_claims_at_once_never_get_the_same_task(floor: Floor) -> None:
    floor.worker("w1", slots=4)
    floor.submit(4)
    floor.round()
    with transaction.atomic():
        first = floor.claim("w1", 2)
        second = Rival(lambda: floor.claim("w1", 4)).join()
    assert len(first) == 2
    assert {g.token for g in first} & {g.token for g in second} == set()
    assert len(first) + len(second) + len(floor.claim("w1")) == 4


def test_a_round_that_meets_a_take_over_comes_to_nothing(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit()
    old = floor.lead()
    leader.free(old)
    with (
        pytest.raises(Deposed),
        holding(lambda: leader.acquire("other", 60), floor.round) as late_round,
    ):
        late_round.join()
    assert floor.status(task) is Status.PENDING
    assert Lease.objects.count() == 0


def test_a_take_over_waits_for_the_commit_of_a_round_that_has_passed_its_fence(
    floor: Floor,
) -> None:
    floor.worker("w1")
    (task,) = floor.submit()
    epoch = leader.acquire("late", 0)
    assert epoch is not None
    floor.epoch = epoch
    with holding(floor.round, lambda: leader.acquire("other", 60)) as take_over:
        assert take_over.join() is None, "the round renewed the lease"
    assert floor.status(task) is Status.ASSIGNED


def test_a_dependency_that_dies_while_its_dependent_is_submitted_is_not_missed(
    floor: Floor,
) -> None:
    grant = running(floor)
    with holding(
        lambda: floor.fail("w1", grant, permanent=True),
        lambda: submit_tasks([NewTask("job", {}, depends_on=[Dependency(grant.task_id)])]),
    ) as submission:
        (dependent,) = submission.join().ids
    (edge,) = floor.task(dependent).dependencies.all()
    assert edge.state == "blocked", "it was DEAD by the time that the submission could look"


def test_a_dependent_submitted_first_hears_of_the_end_of_its_dependency(floor: Floor) -> None:
    grant = running(floor)
    with holding(
        lambda: floor.submit(needs=[(grant.task_id, OnDead.FAIL)]),
        lambda: floor.fail("w1", grant, permanent=True),
    ) as failure:
        assert failure.join() == []
    floor.round()
    (dependent,) = floor.task(grant.task_id).dependents.values_list("task_id", flat=True)
    assert floor.task(dependent).dead_reason == "dependency"


def test_a_round_that_meets_the_death_of_a_dependency_hands_out_no_dependent(
    floor: Floor,
) -> None:
    grant = running(floor)
    (fails,) = floor.submit(needs=[(grant.task_id, OnDead.FAIL)])
    with transaction.atomic():
        assert floor.fail("w1", grant, permanent=True) == []
        between = Rival(floor.round).join()
        assert (between.dispatched, between.settled) == (0, 0), "it sees what was before the death"
    after = floor.round()
    assert (after.dispatched, after.settled) == (0, 1)
    assert floor.task(fails).dead_reason == "dependency"


def handed_out(floor: Floor, task: UUID) -> Callable[[], object]:
    """The hand-out of one task to w1 under its lock, as a round does it."""
    gives = [Assignment(task, floor.workers["w1"], "job", 1.0, lock_key="invoice-7")]
    return lambda: dispatch.dispatch(gives)


def test_of_two_hand_outs_under_one_lock_the_second_waits_and_fails(floor: Floor) -> None:
    floor.worker("w1", slots=4)
    first, second = floor.submit(2, lock_key="invoice-7")
    with (
        pytest.raises(IntegrityError, match="lease_lock_once"),
        holding(handed_out(floor, first), handed_out(floor, second)) as rival,
    ):
        rival.join()
    assert (floor.status(first), floor.status(second)) == (Status.ASSIGNED, Status.PENDING)
    floor.round()
    assert floor.status(second) is Status.PENDING, "the lock is still held"


def test_a_hand_out_that_waited_for_one_that_was_rolled_back_gets_the_lock(floor: Floor) -> None:
    floor.worker("w1", slots=4)
    first, second = floor.submit(2, lock_key="invoice-7")
    with transaction.atomic():
        handed_out(floor, first)()
        rival = Rival(handed_out(floor, second))
        wait_for(waiting_for_locks, "the rival to wait for the lock")
        transaction.set_rollback(True)
    rival.join()
    assert (floor.status(first), floor.status(second)) == (Status.PENDING, Status.ASSIGNED)


def test_a_round_that_meets_the_end_of_a_locks_holder_leaves_the_next_to_the_next_round(
    floor: Floor,
) -> None:
    floor.worker("w1", slots=4)
    first, second = floor.submit(2, lock_key="invoice-7")
    floor.round()
    (grant,) = floor.claim("w1")
    with transaction.atomic():
        assert floor.complete("w1", grant) == []
        report = Rival(floor.round).join()
        assert dict(report.left) == {"locked": 1}
    assert floor.round().dispatched == 1
    assert {floor.status(first), floor.status(second)} == {Status.COMPLETED, Status.ASSIGNED}


def test_two_pauses_of_a_kind_at_once_are_one(floor: Floor) -> None:
    floor.kind()
    with holding(
        lambda: pause_kind("job", OPERATOR), lambda: pause_kind("job", OPERATOR)
    ) as second:
        assert second.join() is False
    assert AuditEntry.objects.count() == 1


def test_two_requeues_at_once_are_one(floor: Floor) -> None:
    task = dead(floor)
    with holding(
        lambda: operations.requeue([task], OPERATOR), lambda: operations.requeue([task], OPERATOR)
    ) as second:
        result = second.join()
    assert result.done == set()
    assert result.refused == {task: "It is PENDING, not DEAD."}
    assert floor.task(task).requeues == 1


def test_a_dependency_that_completes_while_its_dependent_is_requeued_is_not_missed(
    floor: Floor,
) -> None:
    grant = running(floor)
    first = grant.task_id
    (second,) = floor.submit(needs=[(first, OnDead.FAIL)])
    floor.fail("w1", grant, permanent=True)
    floor.round()
    assert floor.task(second).dead_reason == "dependency"
    operations.requeue([first], OPERATOR)
    floor.round()
    (grant,) = floor.claim("w1")
    with transaction.atomic():
        assert operations.requeue([second], OPERATOR).done == {second}
        assert Rival(lambda: floor.complete("w1", grant)).join() == []
        assert Rival(floor.round).join().settled == 1, "it still sees the dependent DEAD"
    floor.round()
    assert floor.status(second) is Status.ASSIGNED


def test_a_dependent_that_somebody_holds_is_passed_over_and_settled_next_time(
    floor: Floor,
) -> None:
    grant = running(floor)
    held, free = floor.submit(2, needs=[(grant.task_id, OnDead.WAIT)])
    assert floor.complete("w1", grant) == []
    with transaction.atomic():
        Task.objects.select_for_update(no_key=True).get(id=held)
        assert Rival(floor.round).join().settled == 1
        assert Rival(floor.round).join().settled == 0
        assert floor.task(free).waiting_on == 0
    assert floor.round().settled == 1
    assert floor.status(held) is Status.ASSIGNED


def test_a_dismissal_that_waited_for_a_requeue_is_refused(floor: Floor) -> None:
    task = dead(floor)
    with holding(
        lambda: operations.requeue([task], OPERATOR),
        lambda: operations.dismiss([task], OPERATOR, "spam"),
    ) as dismissal:
        assert dismissal.join().done == set()
    assert floor.status(task) is Status.PENDING


def test_of_two_boots_of_a_name_at_once_the_second_replaces_the_first(floor: Floor) -> None:
    with holding(lambda: floor.worker("w1"), lambda: floor.worker("w1")) as second:
        later = second.join()
    states = dict(Worker.objects.values_list("id", "state"))
    assert states.pop(later) == "active"
    assert list(states.values()) == ["lost"]


def test_a_worker_that_drains_while_a_round_assigns_to_it_keeps_nothing(floor: Floor) -> None:
    worker = floor.worker("w1")
    (task,) = floor.submit()
    floor.lead()
    with holding(floor.round, lambda: operations.drain_worker(worker, OPERATOR)) as drain:
        drain.join()
    floor.round()
    assert floor.status(task) is Status.PENDING


@pytest.mark.parametrize("who", ["operator", "worker"])
def test_a_drain_that_waited_for_a_claim_leaves_what_was_begun(floor: Floor, who: str) -> None:
    worker = floor.worker("w1", slots=4)
    begun, waiting = floor.submit(2)
    floor.round()

    def drain() -> None:
        if who == "operator":
            operations.drain_worker(worker, OPERATOR)
        else:
            worker_protocol.drain(worker)

    grants: list[Grant] = []
    with holding(lambda: grants.extend(floor.claim("w1", 1)), drain) as other:
        other.join()
    (grant,) = grants
    assert (grant.task_id, floor.status(begun)) == (begun, Status.RUNNING)
    assert floor.task(begun).attempts == 1
    assert floor.status(waiting) is Status.PENDING
    assert floor.complete("w1", grant) == [], "its worker goes on and its result counts"


SWEEP_GATE = 4_711


def wait_at_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the search for lost leases wait between its snapshot and its locks."""
    gate = f"FROM (SELECT pg_advisory_xact_lock({SWEEP_GATE})) gate CROSS JOIN lost\n"
    statement = sweep.TAKE_LOST.replace("FROM lost\n", gate)
    assert statement != sweep.TAKE_LOST
    monkeypatch.setattr(sweep, "TAKE_LOST", statement)


@pytest.mark.parametrize("max_attempts", [1, 3])
def test_a_claim_that_commits_while_a_sweep_looks_counts_as_an_attempt(
    floor: Floor, monkeypatch: pytest.MonkeyPatch, max_attempts: int
) -> None:
    floor.kind(max_attempts=max_attempts)
    floor.worker("w1")
    (task,) = floor.submit()
    floor.round()
    floor.silence("w1", 100)
    wait_at_gate(monkeypatch)

    def claim() -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT pg_advisory_xact_lock({SWEEP_GATE})")
        assert len(floor.claim("w1")) == 1

    with holding(claim, floor.round) as other:
        assert other.join().reclaimed == 1
    found = floor.task(task)
    assert found.attempts == 1
    assert found.status == (Status.DEAD if max_attempts == 1 else Status.PENDING)


def test_a_worker_whose_sign_of_life_is_being_written_is_not_lost(floor: Floor) -> None:
    grant = running(floor)
    floor.silence("w1", 100)
    with transaction.atomic():
        floor.beat("w1", grant)
        report = Rival(floor.round).join()
    assert (report.reclaimed, list(report.lost_workers)) == (0, [])
    assert floor.round().reclaimed == 0
    assert floor.status(grant.task_id) is Status.RUNNING


def test_a_sign_of_life_that_waited_for_a_sweep_learns_that_it_was_too_late(floor: Floor) -> None:
    grant = running(floor)
    floor.silence("w1", 100)
    with (
        pytest.raises(WorkerUnknown),
        holding(floor.round, lambda: floor.beat("w1", grant)) as beat,
    ):
        beat.join()
    assert floor.status(grant.task_id) is Status.PENDING


@pytest.fixture
def in_the_middle(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Have something happen on another connection once the rows of a submission are written."""

    def happens(act: Callable[[], object]) -> None:
        def checked() -> None:
            check_keys()
            Rival(act).join()

        monkeypatch.setattr("tasks_app.store.intake.needed_tasks.check_keys", checked)

    return happens


def test_a_submission_holds_nobody_up_while_it_is_written(
    floor: Floor, in_the_middle: Callable[[Callable[[], object]], None]
) -> None:
    grant = running(floor)

    def ends() -> None:
        assert floor.complete("w1", grant) == []
        floor.round()

    in_the_middle(ends)
    needs = [Dependency(grant.task_id)]
    ids = submit_tasks([NewTask("job", {}, depends_on=needs) for _ in range(2)]).ids
    assert [floor.task(task).waiting_on for task in ids] == [0, 0]
    assert {edge.state for edge in EdgeRow.objects.all()} == {"met"}


def test_a_submission_whose_dependency_is_closed_meanwhile_comes_to_nothing(
    floor: Floor, in_the_middle: Callable[[Callable[[], object]], None]
) -> None:
    floor.kind("job")
    (first,) = floor.submit()
    in_the_middle(lambda: cancel_tasks([first], OPERATOR))
    with pytest.raises(SubmissionInvalid, match="CANCELLED, so that this one would never run"):
        submit_tasks([NewTask("job", {}), NewTask("job", {}, depends_on=[Dependency(first)])])
    assert Task.objects.count() == 1


def test_what_is_about_to_be_pruned_stays_once_a_submission_depends_on_it(
    floor: Floor, in_the_middle: Callable[[Callable[[], object]], None]
) -> None:
    floor.complete("w1", running(floor))
    (first,) = Task.objects.values_list("id", flat=True)

    def prune() -> None:
        with transaction.atomic():
            assert pruning.lock_oldest(Kept.COMPLETED, 0, pruning.BEGINNING, 10) == []

    in_the_middle(prune)
    submit_tasks([NewTask("job", {}, depends_on=[Dependency(first)])])
    assert Task.objects.count() == 2
