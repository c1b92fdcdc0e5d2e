"""The two kinds of work: ``classify_ticket``, and ``draft_reply``, which depends on it.

Everything that a night must be judged by is written by these handlers themselves, into files that
only grow: each start, and each reply twice, once by its key and once without.
"""

import hashlib
import os
import random
from collections.abc import Mapping
from typing import Any

from examples.ticket_triage import outbox, replies
from examples.ticket_triage.classifier import Classifier
from examples.ticket_triage.kinds import CLASSIFY, DRAFT
from examples.ticket_triage.settings import TriageSettings, from_environment
from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import PermanentError, handler


class Desk:
    """What the handlers share: settings, the classifier and the files."""

    def __init__(self, settings: TriageSettings) -> None:
        settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._settings = settings
        self._classifier = Classifier(settings.history, settings.folder)
        self._outbox = outbox.KeyedOutbox(settings.outbox)

    def classify(self, payload: Any, ctx: Context) -> dict[str, Any]:
        """Return label, confidence, and whether a human should look (flagged)."""
        _, text = self._begin(payload, ctx)
        self._wait(ctx)
        verdict = self._classifier.classify(text)
        return {
            "label": verdict.label,
            "confidence": verdict.confidence,
            "flagged": verdict.flagged,
        }

    def draft(self, payload: Any, ctx: Context) -> dict[str, Any]:
        """Send the reply; that is done once by the key, and once more with no regard to it."""
        ticket, _ = self._begin(payload, ctx)
        reply = replies.compose(ticket, ctx.inputs[CLASSIFY])
        entry = {"ticket": ticket, "reply": reply, "pid": os.getpid()}
        outbox.append(self._settings.outbox_without_key, {outbox.KEY: ctx.key, **entry})
        sent = self._outbox.append_once(ctx.key, entry)
        # Other systems take their time to confirm: a worker that dies now has sent the reply and
        # not said so, and the next one repeats the step.
        self._wait(ctx)
        return {"ticket": ticket, "reply": reply, "sent": sent}

    def _begin(self, payload: Any, ctx: Context) -> tuple[str, str]:
        """Log the start, then judge the ticket, then fail for now where that is its lot."""
        start = {"kind": ctx.kind, "attempt": ctx.attempt, "pid": os.getpid()}
        outbox.append(self._settings.executions, {outbox.KEY: ctx.key, **start})
        ticket, text = _read(payload)
        if ctx.attempt == 1 and _lot(f"{ctx.kind} {ticket}") < self._settings.transient_share:
            raise TimeoutError("the mail server did not answer within 5 s")
        return ticket, text

    def _wait(self, ctx: Context) -> None:
        ctx.sleep(random.uniform(*self._settings.latency))


def _read(payload: Any) -> tuple[str, str]:
    """Return a ticket's id and text; a malformed one stays so at every attempt."""
    if not isinstance(payload, Mapping):
        raise PermanentError("the payload is not an object with the fields ticket and text")
    text = payload.get("text")
    if not isinstance(text, str) or not text.strip():
        raise PermanentError(f"ticket {payload.get('ticket')!r} has no text")
    return str(payload.get("ticket")), text


def _lot(name: str) -> float:
    """Draw a number from 0 to 1 that is the same for a name in every night."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) / 2**64


_desk = Desk(from_environment())


@handler(CLASSIFY)
def classify_ticket(payload: Any, ctx: Context) -> dict[str, Any]:
    """Tell what a ticket is about."""
    return _desk.classify(payload, ctx)


@handler(DRAFT)
def draft_reply(payload: Any, ctx: Context) -> dict[str, Any]:
    """Answer a ticket by what it is about."""
    return _desk.draft(payload, ctx)
