"""Workers killed between an effect and its record, and between its record and their report."""

import os
import signal
from dataclasses import dataclass
from uuid import UUID

import pytest
from django.core.management import call_command

from tasks_app.core.states import OnDead, Status
from tasks_app.models import Effect
from tasks_app.services.actions import operations
from tasks_app.services.people.people import Actor
from tests.faults.conftest import Plant
from tests.faults.sending import COMPOSED, RECORDED, SEND, SENT
from tests.waiting import wait_for

HANDLERS = ("--handlers", "tests.faults.sending", "--slots", "1")
MODES = [
    pytest.param((), id="worker killed"),
    pytest.param(("--processes",), id="child killed"),
]


@dataclass
class Victim:
    """A worker that is killed, or whose child is, while its handler stands at a gate."""

    plant: Plant
    mode: tuple[str, ...]
    boots: int = 0

    def start(self) -> None:
        """Start a worker, the next one in line."""
        self.boots += 1
        self.process = self.plant.work(f"w{self.boots}", *HANDLERS, *self.mode)

    def shut(self, gate: str) -> None:
        """Have the next handler stop there."""
        (self.plant.folder / f"{gate}.shut").touch()

    def die_at(self, gate: str) -> None:
        """SIGKILL what stands at the gate, then open it for the next attempt."""
        before = wait_for(lambda: self.plant.lines(gate), f"a handler at the gate {gate!r}", 30)
        if self.mode:
            os.kill(int(before[-1]), signal.SIGKILL)
        else:
            self.process.kill()
            self.process.wait(10)
        (self.plant.folder / f"{gate}.shut").unlink()
        if not self.mode:
            self.start()


@pytest.fixture(params=MODES)
def victim(request: pytest.FixtureRequest, plant: Plant) -> Victim:
    """A worker of each mode, with a supervisor that notices its end within two seconds."""
    for name in ("compose", "sender", "send_or_ask", "send_or_repeat"):
        plant.floor.kind(name, backoff_base_seconds=0.1)
    plant.supervise()
    made = Victim(plant, request.param)
    made.start()
    return made


def wait_for_end(plant: Plant, task: UUID, status: Status) -> None:
    wait_for(lambda: plant.floor.status(task) is status, f"the task to be {status}", 30)


def test_an_effect_whose_record_the_kill_prevented_waits_for_a_human_and_is_not_repeated(
    plant: Plant, victim: Victim
) -> None:
    victim.shut(SENT)
    (task,) = plant.floor.submit(kind="send_or_ask")
    victim.die_at(SENT)
    wait_for_end(plant, task, Status.DEAD)
    dead = plant.floor.task(task)
    assert dead.dead_reason == "permanent"
    assert dead.error is not None
    assert dead.error["type"].endswith("UnsureEffect")
    assert plant.lines("sent") == [str(task)]
    found = '{"by_attempt": 1}'
    call_command("settle-effect", str(task), SEND, "happened", "--reason=x", f"--result={found}")
    operations.requeue([task], Actor("op"))
    wait_for_end(plant, task, Status.COMPLETED)
    assert plant.floor.task(task).result == {"by_attempt": 1}
    assert plant.lines("sent") == [str(task)]
    plant.floor.assert_invariants()


def test_an_effect_whose_receiver_knows_repetitions_is_repeated_under_the_same_key(
    plant: Plant, victim: Victim
) -> None:
    victim.shut(SENT)
    (task,) = plant.floor.submit(kind="send_or_repeat")
    victim.die_at(SENT)
    wait_for_end(plant, task, Status.COMPLETED)
    assert plant.lines("sent") == [str(task)] * 2
    assert plant.floor.task(task).result == {"by_attempt": 2}
    effect = Effect.objects.get(task_id=task)
    assert (effect.state, effect.repeats) == ("done", 1), "the record says that it may be two"
    plant.floor.assert_invariants()


def test_a_reply_that_was_computed_twice_and_sent_by_a_killed_sender_is_sent_once(
    plant: Plant, victim: Victim
) -> None:
    victim.shut(COMPOSED)
    victim.shut(RECORDED)
    (composed,) = plant.floor.submit(kind="compose")
    (task,) = plant.floor.submit(kind="sender", needs=[(composed, OnDead.WAIT)])
    victim.die_at(COMPOSED)
    victim.die_at(RECORDED)
    wait_for_end(plant, task, Status.COMPLETED)
    assert len(plant.lines(COMPOSED)) == 2
    assert len(plant.lines(RECORDED)) == 2
    assert plant.lines("sent") == ["reply to 0"]
    assert plant.floor.task(task).result == {"message": "message of attempt 1"}
    plant.floor.assert_invariants()
