"""A handler that says all the time that it is at work, and by whom."""

import time
from typing import Any

from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import handler
from tests.faults.handlers import folder, note, worker_name


@handler("tick")
def tick(payload: Any, ctx: Context) -> None:
    """Be at work while the gate is shut, and stop the moment that it is asked to."""
    while True:
        note("ticks", f"{worker_name()} {time.monotonic():.6f}")
        if not (folder() / "gate").exists():
            return
        ctx.sleep(0.005)
