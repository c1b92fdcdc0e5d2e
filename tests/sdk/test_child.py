"""The child process from within: what it hears while it ends a task, and when it hears no more."""

import asyncio
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tasks_app.sdk.children.child import DEAF, Cancel, Job, _Child
from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import Handler
from tasks_app.sdk.outcomes.outcomes import Done, Stopped
from tests.sdk.plane import PATIENCE

LARGE = "x" * 60_000
"""More than the buffers of this pipe hold: whoever sends it waits until it is read."""


async def _async_large(payload: Any, ctx: Context) -> Any:
    return LARGE if payload == "large" else "small"


def _plain_large(payload: Any, ctx: Context) -> Any:
    return LARGE if payload == "large" else "small"


async def _waits(payload: Any, ctx: Context) -> None:
    await asyncio.sleep(PATIENCE * 2)


OPEN: list[Connection] = []

HANDLERS = {
    "async": Handler(kind="async", function=_async_large, is_async=True),
    "plain": Handler(kind="plain", function=_plain_large, is_async=False),
    "waits": Handler(kind="waits", function=_waits, is_async=True),
}


@pytest.fixture
def pipe() -> Connection:
    """The worker's end; the child runs in a thread.

    The end stays open for good: a child whose worker has gone ends its process, here the tests'.
    """
    ours, theirs = multiprocessing.Pipe()
    OPEN.append(ours)
    for end in (ours, theirs):
        with socket.socket(fileno=os.dup(end.fileno())) as same:
            same.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    threading.Thread(target=_Child(theirs, HANDLERS, None).run, daemon=True).start()
    return ours


def _job(token: int, kind: str, payload: str = "small") -> Job:
    return Job(uuid4(), token, kind, payload, 1, "key", float("inf"))


def _answer(pipe: Connection) -> object:
    assert pipe.poll(PATIENCE), "the child does not answer"
    return pipe.recv()


@pytest.mark.parametrize("kind", ["async", "plain"])
def test_a_child_that_hears_a_cancel_as_its_task_ends_hears_the_next_job_too(
    pipe: Connection, kind: str
) -> None:
    pipe.send(_job(1, kind, "large"))
    assert pipe.poll(PATIENCE), "its outcome fills the pipe: the handler has ended"
    pipe.send(Cancel(1))
    assert _answer(pipe) == Done(LARGE)
    pipe.send(_job(2, kind))
    assert _answer(pipe) == Done("small")


@pytest.mark.parametrize("kind", ["async", "plain"])
def test_a_cancel_of_a_task_that_has_ended_leaves_the_next_one_alone(
    pipe: Connection, kind: str
) -> None:
    pipe.send(_job(1, kind))
    assert _answer(pipe) == Done("small")
    pipe.send(_job(2, "waits"))
    pipe.send(Cancel(1))
    assert not pipe.poll(0.1), "the task that runs now was not meant"
    pipe.send(Cancel(2))
    assert _answer(pipe) == Stopped()


@pytest.mark.parametrize("kind", ["async", "waits"])
def test_a_cancel_that_comes_before_its_job_is_not_lost(pipe: Connection, kind: str) -> None:
    pipe.send(Cancel(7))
    pipe.send(_job(7, kind))
    assert _answer(pipe) == Stopped()


def test_a_child_that_can_no_longer_hear_ends_so_that_it_is_replaced() -> None:
    program = (
        "import multiprocessing\n"
        "from tasks_app.sdk.children.child import _Child\n"
        "ours, theirs = multiprocessing.Pipe()\n"
        "ours.send_bytes(b'no pickle')\n"
        "_Child(theirs, {}, None).run()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=PATIENCE * 2,
        check=False,
    )
    assert ended.returncode == DEAF
    assert "UnpicklingError" in ended.stderr
