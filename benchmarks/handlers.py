"""The handlers of the benchmarks: nothing to do, and nothing but to say when it began."""

import os
import socket
import time
from typing import Any, Final

from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import handler

ADDRESS: Final = "CHARGEHAND_STAMPS"
"""The environment's name for the socket that hears when a body begins."""

RESULT: Final = {"ok": True}

_out = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)


def stamped(payload: Any) -> dict[str, bool]:
    """Do nothing; where the payload asks for it say when this began, in monotonic ns."""
    now = time.monotonic_ns()
    if "stamp" in payload:
        _out.sendto(str(now).encode(), os.environ[ADDRESS])
    return RESULT


@handler("noop")
def noop(payload: Any, _ctx: Context) -> dict[str, bool]:
    """A task that does nothing."""
    return stamped(payload)
