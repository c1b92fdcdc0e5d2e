"""Handlers that fail together, take their process down, or simply take a moment."""

import os
import re
import time
from typing import Any

from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import handler
from tests.faults.handlers import folder, note

DOWN = "down"
"""While a file of this name stands, the service that ``call`` needs is away."""


@handler("call")
def call(payload: Any, ctx: Context) -> None:
    """Ask a service that may be down for everybody at once."""
    note("calls", ctx.key)
    if (folder() / DOWN).exists():
        raise TimeoutError("no answer")


@handler("abort")
def abort(payload: Any, ctx: Context) -> None:
    """Take the process down, as a segmentation fault or the out-of-memory killer would."""
    note("aborts", ctx.key)
    os.abort()


@handler("explode")
def explode(payload: Any, ctx: Context) -> None:
    """Match an expression that takes years and holds the interpreter lock all the time."""
    note("explosions", ctx.key)
    re.match(r"(a+)+$", "a" * 60 + "b")


@handler("nap")
def nap(payload: Any, ctx: Context) -> None:
    """Sleep, and need the interpreter afterwards."""
    note("naps", ctx.key)
    time.sleep(2)


@handler("moment")
def moment(payload: Any, ctx: Context) -> None:
    """Take long enough that some of many are always under way."""
    note("moments", ctx.key)
    time.sleep(0.05)
