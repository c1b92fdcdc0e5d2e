"""Readers that take nothing of what they asked for: what they hold is their own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest

from controlplane.environment import ROOT
from controlplane.ports import free_port
from tests.attacks.endless import PART, PARTS
from tests.waiting import wait_for

MOST_BUFFERED = 400
"""Parts that kernel and server may hold for a reader: some 25 MB of 130."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where the endless application answers."""
    port = free_port(22000)
    command = [sys.executable, "-m", "daphne", "--bind", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--verbosity", "0", "tests.attacks.endless:application"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    wait_for(lambda: _answers(port), "the application to answer", 40)
    yield port
    process.kill()
    process.wait(10)


def _answers(port: int) -> bool:
    try:
        return "sent" in told(port)
    except OSError:
        return False


def told(port: int) -> dict[str, int]:
    line = HTTPConnection("127.0.0.1", port, timeout=20)
    line.request("GET", "/")
    found: dict[str, int] = json.loads(line.getresponse().read())
    line.close()
    return found


def opened(port: int) -> tuple[HTTPConnection, HTTPResponse]:
    line = HTTPConnection("127.0.0.1", port, timeout=60)
    line.request("GET", "/endless")
    return line, line.getresponse()


def held_back(port: int) -> bool:
    """Whether nothing moves: asked often, the count is the same each time."""
    counts = {told(port)["sent"] for _ in range(50)}
    return len(counts) == 1 and counts != {0}


def test_a_reader_that_takes_nothing_holds_back_what_is_made_for_it(port: int) -> None:
    line, answer = opened(port)
    wait_for(lambda: held_back(port), "the application to wait", 60)
    assert told(port)["sent"] < MOST_BUFFERED
    assert answer.read(10 * len(PART)), "it goes on as far as the reader takes it"
    assert len(answer.read()) == (PARTS - 10) * len(PART), "and comes to its end"
    line.request("GET", "/")
    assert line.getresponse().status == 200, "the connection serves the next request"
    line.close()


def test_a_reader_that_leaves_is_waited_for_no_longer(port: int) -> None:
    line, answer = opened(port)
    wait_for(lambda: held_back(port), "the application to wait", 60)
    answer.close()
    line.close()
    wait_for(lambda: told(port)["under_way"] == 0, "the application to end", 60)


def test_two_readers_of_one_process_do_not_wait_for_each_other(port: int) -> None:
    slow, never_read = opened(port)
    wait_for(lambda: held_back(port), "the application to wait", 60)
    quick, answer = opened(port)
    assert len(answer.read()) == PARTS * len(PART)
    for each in (never_read, slow, quick):
        closing: Any = each
        closing.close()
    wait_for(lambda: told(port)["under_way"] == 0, "the application to end", 60)
