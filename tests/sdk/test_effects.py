"""An effect is done once whatever runs the handler: a thread, the event loop, a child process."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tasks_app.core.attempts.effects import EffectFacts, EffectState
from tasks_app.core.attempts.error_classes import classify_error
from tasks_app.core.facts import RetryPolicy
from tasks_app.sdk.context import Cancelled, Context
from tasks_app.sdk.handlers import PermanentError
from tasks_app.sdk.link import Failure, Grant
from tests.sdk.conftest import Start
from tests.sdk.plane import Plane

MODULES = ("tests.sdk.sending",)
MODES = [
    pytest.param(("send", False), id="in a thread"),
    pytest.param(("async_send", False), id="on the loop"),
    pytest.param(("send", True), id="in a child process"),
    pytest.param(("async_send", True), id="on a loop in a child process"),
]
RESULT = [1, "a�b"]
"""What ``send`` returned at attempt 1, as it was recorded."""


class Sender:
    """One task with an effect, and its attempts one after the other."""

    def __init__(self, plane: Plane, file: Path, mode: tuple[str, bool], **payload: Any) -> None:
        self.plane = plane
        self.kind, self.processes = mode
        self.file = file
        self.payload = {"file": str(file), **payload}
        self.task_id = uuid4()
        self.attempts = 0

    def attempt(self) -> Grant:
        """Give the task to the worker; return once its attempt has ended."""
        grant = self.begin()
        self.plane.wait_until(lambda: grant.token not in self.plane.held and self._known())
        return grant

    def begin(self) -> Grant:
        """Give the task to the worker; return once it has taken it."""
        self.plane.completed.pop(self.task_id, None)
        self.plane.failed.pop(self.task_id, None)
        self.attempts += 1
        grant = self.plane.assign(
            self.kind, self.payload, task_id=self.task_id, attempt=self.attempts
        )
        self.plane.wait_until(lambda: grant not in self.plane.assigned)
        return grant

    def _known(self) -> bool:
        return self.task_id in self.plane.completed or self.task_id in self.plane.failed

    @property
    def result(self) -> Any:
        return self.plane.completed[self.task_id]

    @property
    def failure(self) -> Failure:
        return self.plane.failed[self.task_id]

    @property
    def sent(self) -> Sequence[str]:
        return self.file.read_text().split() if self.file.exists() else []

    @property
    def standing(self) -> EffectFacts | None:
        return self.plane.effects.get((self.task_id, "send-reply"))


MakeSender = Callable[..., Sender]


@pytest.fixture(params=MODES)
def sender(
    request: pytest.FixtureRequest, plane: Plane, start: Start, tmp_path: Path
) -> MakeSender:
    """A task for a worker of each mode."""

    def make(**payload: Any) -> Sender:
        made = Sender(plane, tmp_path / "sent", request.param, **payload)
        start(modules=MODULES, processes=made.processes, slots=1)
        return made

    return make


def test_a_second_attempt_gets_the_recorded_result_and_sends_nothing(sender: MakeSender) -> None:
    task = sender()
    first = task.attempt()
    assert task.result == RESULT
    assert task.standing == EffectFacts(EffectState.DONE, first.token)
    task.attempt()
    assert task.result == RESULT, "attempt 1's, not attempt 2's"
    assert task.sent == [str(task.task_id)]


def test_an_effect_left_in_doubt_is_not_repeated_and_the_task_is_beyond_retry(
    sender: MakeSender,
) -> None:
    task = sender(**{"1": "read timeout"})
    first = task.attempt()
    assert "TimeoutError" in task.failure.error.type
    assert task.standing == EffectFacts(EffectState.STARTED, first.token)
    task.attempt()
    assert task.failure.error.type.endswith("UnsureEffect")
    assert f"token {first.token}" in task.failure.error.message
    verdict = classify_error(task.failure.error, RetryPolicy())
    assert verdict.error_class == "permanent"
    assert len(task.sent) == 1


def test_an_effect_left_in_doubt_is_repeated_where_the_handler_says_so(sender: MakeSender) -> None:
    task = sender(if_unsure="run", **{"1": "read timeout"})
    task.attempt()
    task.attempt()
    assert task.result == [2, RESULT[1]]
    assert task.sent == [str(task.task_id)] * 2, "both under the same key"


@pytest.mark.parametrize("fault", ["refused", "busy"])
def test_a_start_after_which_certainly_nothing_happened_is_taken_back(
    sender: MakeSender, fault: str
) -> None:
    task = sender(**{"1": fault})
    task.attempt()
    assert task.standing is None
    task.attempt()
    assert task.result == [2, RESULT[1]]
    assert len(task.sent) == 1


@pytest.mark.parametrize("call", ["begin_effect", "finish_effect"])
def test_a_call_whose_answer_is_lost_is_repeated_and_the_effect_is_not(
    sender: MakeSender, plane: Plane, call: str
) -> None:
    plane.lose_answer = call
    task = sender()
    task.attempt()
    assert plane.calls.count(call) == 2
    assert task.standing is not None
    assert task.standing.state is EffectState.DONE
    assert len(task.sent) == 1


def test_an_effect_waits_for_a_control_plane_that_is_away(sender: MakeSender, plane: Plane) -> None:
    plane.refuse_calls.add("begin_effect")
    task = sender()
    grant = task.begin()
    plane.wait_until(lambda: plane.calls.count("begin_effect") > 2)
    assert task.sent == []
    plane.refuse_calls = {"finish_effect"}
    plane.wait_until(lambda: plane.calls.count("finish_effect") > 2)
    plane.refuse_calls = set()
    plane.wait_until(lambda: grant.token not in plane.held)
    assert task.result == RESULT
    assert len(task.sent) == 1


def test_an_attempt_that_lost_its_lease_begins_no_effect_and_says_nothing(
    sender: MakeSender, plane: Plane
) -> None:
    plane.during["begin_effect"] = plane.held.clear
    task = sender()
    task.begin()
    plane.wait_until(lambda: "begin_effect" in plane.calls and not plane.held)
    task.attempt()
    assert task.result == [2, RESULT[1]]
    assert len(task.sent) == 1
    assert not plane.late


def test_a_lease_that_is_lost_during_the_effect_leaves_it_in_doubt(
    sender: MakeSender, plane: Plane
) -> None:
    plane.during["finish_effect"] = plane.held.clear
    task = sender()
    first = task.begin()
    plane.wait_until(lambda: "finish_effect" in plane.calls)
    assert task.standing == EffectFacts(EffectState.STARTED, first.token)
    task.attempt()
    assert task.failure.error.type.endswith("UnsureEffect")
    assert not plane.late


def test_an_unexpected_error_of_the_record_fails_the_attempt_and_not_the_worker(
    sender: MakeSender, plane: Plane
) -> None:
    def break_down() -> None:
        raise OSError("disk full")

    plane.during["begin_effect"] = break_down
    task = sender()
    task.attempt()
    assert "disk full" in task.failure.error.message
    task.attempt()
    assert task.result == [2, RESULT[1]]


def test_a_child_killed_between_effect_and_record_leaves_it_in_doubt(
    plane: Plane, start: Start, tmp_path: Path
) -> None:
    start(modules=MODULES, processes=True, slots=1)
    task = Sender(plane, tmp_path / "sent", ("send", True), **{"1": "kill"})
    task.attempt()
    assert task.failure.crashed
    assert "SIGKILL" in task.failure.error.message
    task.attempt()
    assert task.failure.error.type.endswith("UnsureEffect")
    assert len(task.sent) == 1


@pytest.mark.parametrize(("if_unsure", "sent"), [("fail", 1), ("run", 2)])
def test_the_same_attempt_is_no_surer_of_what_it_left_in_doubt(
    plane: Plane, start: Start, tmp_path: Path, if_unsure: str, sent: int
) -> None:
    start(modules=MODULES)
    task = Sender(
        plane,
        tmp_path / "sent",
        ("send", False),
        again=True,
        if_unsure=if_unsure,
        **{"1": "read timeout"},
    )
    task.attempt()
    assert "this same attempt" in task.failure.error.message or if_unsure == "run"
    assert len(task.sent) == sent


@pytest.mark.parametrize(
    ("kind", "advice"),
    [("wrong_in_async", "await ctx.once_async instead"), ("wrong_in_plain", "once takes a plain")],
)
def test_the_wrong_one_of_the_two_is_refused_in_a_sentence(
    plane: Plane, start: Start, kind: str, advice: str
) -> None:
    start(modules=MODULES)
    grant = plane.assign(kind, {})
    plane.wait_until(lambda: grant.task_id in plane.failed)
    assert advice in plane.failed[grant.task_id].error.message
    assert plane.effects == {}, "nothing was done, and that is known"


def test_a_handler_called_without_a_worker_keeps_its_own_record() -> None:
    ctx = Context(uuid4())
    calls: list[int] = []

    def function() -> tuple[int, ...]:
        calls.append(1)
        return (1, 2)

    assert ctx.once("count", function) == [1, 2]
    assert ctx.once("count", function) == [1, 2]
    assert len(calls) == 1
    assert ctx.effect_key == ctx.key


def test_two_threads_of_one_attempt_do_an_effect_once() -> None:
    ctx = Context(uuid4())
    inside, go_on = threading.Event(), threading.Event()
    calls: list[int] = []

    def slow() -> None:
        calls.append(1)
        inside.set()
        go_on.wait(10)

    thread = threading.Thread(target=lambda: ctx.once("slow", slow))
    thread.start()
    assert inside.wait(10)
    with pytest.raises(PermanentError, match="this same attempt"):
        ctx.once("slow", slow)
    go_on.set()
    thread.join()
    assert ctx.once("slow", slow) is None
    assert len(calls) == 1


def test_a_cancelled_attempt_begins_no_effect() -> None:
    ctx = Context(uuid4())
    ctx.cancel()
    with pytest.raises(Cancelled):
        ctx.once("send", lambda: pytest.fail("called"))


@pytest.mark.parametrize("name", ["", "x" * 101, "a\0b", "a\nb"])
def test_a_name_that_cannot_be_kept_is_refused(name: str) -> None:
    with pytest.raises(PermanentError, match="printable characters"):
        Context(uuid4()).once(name, lambda: pytest.fail("called"))


def test_a_policy_that_does_not_exist_is_refused() -> None:
    with pytest.raises(PermanentError, match="not 'perhaps'"):
        Context(uuid4()).once("send", lambda: pytest.fail("called"), if_unsure="perhaps")
