"""The same with people among the workers: what they take, answer, hand back and forget."""

from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test

from tasks_app.core.states import OnDead, Status
from tasks_app.services.jobs.human_steps import Claimed, claim_step, extend_step
from tasks_app.store.reads.jobs.inbox import find_person
from tests.model.reference import ModelTask
from tests.model.test_store_model import QUICK, Record, picks
from tests.people import APPROVED, PeopleFloor

NAMES = ("rita", "otto")
people = st.sampled_from(NAMES)


class PeopleRecord(Record):
    """Some tasks are done by people, who may be late, and name tokens of theirs that are stale."""

    def __init__(self) -> None:
        super().__init__()
        self.floor: PeopleFloor = PeopleFloor()
        self.taken: list[tuple[UUID, int]] = []

    @initialize()
    def let_people_work(self) -> None:
        """A kind that they do."""
        self.floor.people_do()

    @rule(
        attempts=st.integers(1, 2),
        needs=st.lists(st.tuples(picks, st.sampled_from(OnDead)), max_size=1),
    )
    def submit_for_people(self, attempts: int, needs: list[tuple[int, OnDead]]) -> None:
        """A new step, which may depend on an earlier task, and others on it."""
        known = [task for task in self.tasks.values() if task.status is Status.PENDING]
        edges = {known[n % len(known)].id: policy for n, policy in needs} if known else {}
        (task,) = self.floor.submit(kind="review", needs=list(edges.items()), max_attempts=attempts)
        self.tasks[task] = ModelTask(task, attempts, edges, by_people=True)

    def _steps(self) -> list[ModelTask]:
        return [task for task in self.tasks.values() if task.by_people]

    @precondition(lambda self: self._steps())
    @rule(pick=picks, name=people)
    def take(self, pick: int, name: str) -> None:
        """Somebody takes a step: they get it if and only if it waits, and for nothing else."""
        task = self._steps()[pick % len(self._steps())]
        user_id, actor = self.floor.person(name)
        found = claim_step(task.id, user_id, actor)
        waits = task.status is Status.PENDING
        assert not isinstance(found, Claimed) or waits
        if not isinstance(found, Claimed):
            assert not waits or self.floor.task(task.id).waiting_on > 0, found
            return
        assert all(self._lets_pass(i, policy) for i, policy in task.needs.items())
        task.claim()
        person = find_person(user_id)
        assert person is not None
        task.held = (person, found.token)
        self.taken.append((task.id, found.token))

    def _theirs(self, pick: int, name: str) -> tuple[ModelTask, int, bool]:
        """A step that was taken once, its token then, and whether it is still this person's."""
        task_id, token = self.taken[pick % len(self.taken)]
        task = self.tasks[task_id]
        person = find_person(self.floor.person(name)[0])
        return task, token, task.status is Status.RUNNING and task.held == (person, token)

    @precondition(lambda self: self.taken)
    @rule(pick=picks, name=people)
    def answer(self, pick: int, name: str) -> None:
        """Complete a step; what is no longer theirs is late."""
        task, token, theirs = self._theirs(pick, name)
        assert self.floor.decide(task.id, token, APPROVED, name).done is theirs
        if theirs:
            task.complete()

    @precondition(lambda self: self.taken)
    @rule(pick=picks, name=people)
    def hand_back(self, pick: int, name: str) -> None:
        """Hand a step back."""
        task, token, theirs = self._theirs(pick, name)
        assert self.floor.give_back(task.id, token, name) is theirs
        if theirs:
            task.release()

    @precondition(lambda self: self.taken)
    @rule(pick=picks, name=people)
    def extend(self, pick: int, name: str) -> None:
        """Ask for more time."""
        task, token, theirs = self._theirs(pick, name)
        until = extend_step(task.id, token, *self.floor.person(name))
        assert (until is not None) is theirs

    @precondition(lambda self: self.taken)
    @rule(pick=picks)
    def forget(self, pick: int) -> None:
        """Somebody's time runs out, and the sweep takes the step back without a cost."""
        task = self.tasks[self.taken[pick % len(self.taken)][0]]
        self.floor.time_runs_out(task.id)
        if task.status is Status.RUNNING:
            task.release()
        self.round(sweeping=True)


def test_any_order_of_calls_with_people_does_what_the_model_says(record: None) -> None:
    run_state_machine_as_test(PeopleRecord, settings=settings(QUICK, max_examples=15))
