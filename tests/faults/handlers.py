"""Handlers that note what they do in files, for the test to see whatever becomes of the worker."""

import os
import time
from pathlib import Path
from typing import Any

from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import handler

FOLDER = "CHARGEHAND_FAULT_FOLDER"
WORKER = "CHARGEHAND_FAULT_WORKER"


def folder() -> Path:
    """Where this test's handlers write."""
    return Path(os.environ[FOLDER])


def worker_name() -> str:
    """Which worker this process is, as the test calls it."""
    return os.environ[WORKER]


def note(name: str, line: str) -> None:
    """Append one line in one write, so that lines of several processes never mix."""
    with (folder() / name).open("ab", buffering=0) as file:
        file.write(f"{line}\n".encode())


def pass_gate(name: str = "gate") -> None:
    """Wait while a gate file stands."""
    while (folder() / name).exists():
        time.sleep(0.01)


@handler("step")
def step(payload: dict[str, Any], ctx: Context) -> dict[str, Any]:
    """Write that it began; wait while the gate file says so; write its effect."""
    note("starts", ctx.key)
    pass_gate()
    note("effects", ctx.key)
    return {"n": payload["n"]}


@handler("hang", timeout=0.5)
def hang(payload: dict[str, Any], ctx: Context) -> None:
    """Never come back."""
    note("starts", ctx.key)
    while True:
        time.sleep(1)
