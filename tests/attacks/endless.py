"""An application that streams far more than any buffer holds, and tells how much it was let."""

import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from controlplane.requests.slow_readers import pace

PARTS: Final = 2_000
PART: Final = b"x" * 65_536
told: Final = {"sent": 0, "under_way": 0}


async def application(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[Any]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """Stream under ``/endless``; anywhere else tell the counts."""
    start = {"type": "http.response.start", "status": 200, "headers": []}
    if scope["path"] != "/endless":
        await send(start)
        await send({"type": "http.response.body", "body": json.dumps(told).encode()})
        return
    told["sent"], told["under_way"] = 0, told["under_way"] + 1
    try:
        await send(start)
        for _ in range(PARTS):
            await send({"type": "http.response.body", "body": PART, "more_body": True})
            told["sent"] += 1
        await send({"type": "http.response.body", "body": b""})
    finally:
        told["under_way"] -= 1


pace()
