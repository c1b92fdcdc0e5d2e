"""Handlers that send: each sending is one line, written by the effect and counted by the test."""

import os
from collections.abc import Mapping
from typing import Any

from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import handler
from tests.faults.handlers import note, pass_gate

SEND = "send-reply"
COMPOSED, SENT, RECORDED = "composed", "effect-done", "recorded"
"""Gates: a handler that comes to one writes its process id into a file of that name."""


def _stop_at(gate: str) -> None:
    note(gate, str(os.getpid()))
    pass_gate(f"{gate}.shut")


def _send(ctx: Context) -> dict[str, int]:
    """Send, and be slow to come back from it while the gate is shut."""
    note("sent", ctx.effect_key)
    _stop_at(SENT)
    return {"by_attempt": ctx.attempt}


@handler("send_or_ask")
def send_or_ask(payload: Any, ctx: Context) -> Any:
    """Send to a receiver that would take a repetition for a second message."""
    return ctx.once(SEND, lambda: _send(ctx))


@handler("send_or_repeat")
def send_or_repeat(payload: Any, ctx: Context) -> Any:
    """Send to a receiver that knows a repetition by its key."""
    return ctx.once(SEND, lambda: _send(ctx), if_unsure="run")


@handler("compose")
def compose(payload: Any, ctx: Context) -> dict[str, str]:
    """Compute a reply, which asks for a send and sends nothing itself."""
    _stop_at(COMPOSED)
    return {"reply": f"reply to {payload['n']}"}


@handler("sender")
def sender(payload: Any, ctx: Context) -> Mapping[str, Any]:
    """Send what the task before it computed; then be slow to report it."""
    (composed,) = ctx.inputs.values()

    def send() -> str:
        note("sent", composed["reply"])
        return f"message of attempt {ctx.attempt}"

    message = ctx.once(SEND, send)
    _stop_at(RECORDED)
    return {"message": message}
