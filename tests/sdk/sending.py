"""Handlers with an effect: each writes a line into a file, which anybody can count."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import RetryableError, handler


def _sender(payload: dict[str, Any], ctx: Context) -> Callable[[], tuple[int, str]]:
    """A function that sends, and then fails in the way that the payload names for this attempt."""

    def send() -> tuple[int, str]:
        fault = payload.get(str(ctx.attempt), "")
        if fault == "refused":
            raise ConnectionRefusedError("nobody listens")
        if fault == "busy":
            raise RetryableError("not now")
        with Path(payload["file"]).open("a") as file:
            file.write(f"{ctx.effect_key}\n")
        if fault == "read timeout":
            raise TimeoutError("no answer")
        if fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        return ctx.attempt, "a\0b"

    return send


@handler("send")
def send(payload: dict[str, Any], ctx: Context) -> Any:
    """Send once, and once more within this attempt if the payload asks for that."""
    policy = payload.get("if_unsure", "fail")
    try:
        first = ctx.once("send-reply", _sender(payload, ctx), if_unsure=policy)
    except TimeoutError:
        if not payload.get("again"):
            raise
        first = ctx.once("send-reply", _sender(payload, ctx), if_unsure=policy)
    if payload.get("wait"):
        ctx.sleep(60)
    return first


@handler("async_send")
async def async_send(payload: dict[str, Any], ctx: Context) -> Any:
    """The same on the event loop."""

    async def sending() -> tuple[int, str]:
        return _sender(payload, ctx)()

    return await ctx.once_async("send-reply", sending, if_unsure=payload.get("if_unsure", "fail"))


@handler("wrong_in_async")
async def wrong_in_async(payload: dict[str, Any], ctx: Context) -> Any:
    """The mistake: it would hold up the loop of all the others."""
    return ctx.once("send-reply", lambda: 1)


@handler("wrong_in_plain")
def wrong_in_plain(payload: dict[str, Any], ctx: Context) -> Any:
    """The mistake: a coroutine that nobody would await."""

    async def sending() -> None:
        raise AssertionError("never awaited")

    return ctx.once("send-reply", sending)
