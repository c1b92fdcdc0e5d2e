"""What machines do with a post: two analyses, the alert to the reviewers, and the verdict.

The person's own step, ``review_content``, has no handler: it is done in the inbox.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from examples.content_moderation import images, texts
from examples.content_moderation.kinds import (
    ALLOW,
    APPROVE,
    BLOCK,
    IMAGE,
    NOTIFY,
    SETTLE,
    TEXT,
    UNCLEAR,
)
from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import PermanentError, handler

FOLDER: Final = "MODERATION_FOLDER"
"""Environment: where the reviewers' alerts are written to."""

ALERTS: Final = "alerts.jsonl"


@handler(IMAGE)
def analyse_image(payload: Any, ctx: Context) -> dict[str, Any]:
    """Classify what a picture may show."""
    try:
        picture = images.measure(Path(payload["picture"]))
    except OSError as error:
        raise PermanentError(f"post {payload['post']} has no readable picture: {error}") from error
    return {
        "verdict": picture.verdict,
        "label": picture.label,
        "skin": picture.skin,
        "blood": picture.blood,
        "dark": picture.dark,
        "contrast": picture.contrast,
    }


@handler(TEXT)
def analyse_text(payload: Any, ctx: Context) -> dict[str, Any]:
    """Detect which policies a text violates."""
    found = texts.violations(payload["text"])
    return {"verdict": texts.verdict(found), "violations": found}


@handler(NOTIFY)
def notify_reviewers(payload: Any, ctx: Context) -> dict[str, Any]:
    """Alert the reviewers; one alert too many is better than none."""
    alert = {
        "post": payload["post"],
        "says": f"image says {payload['image']['verdict']} ({payload['image']['label']}), "
        f"text says {payload['text']['verdict']}: please decide in the inbox",
    }
    ctx.once("alert", lambda: _send(alert), if_unsure="run")
    return alert


def _send(alert: Mapping[str, Any]) -> None:
    """One line a reviewer's mailbox would get."""
    with (Path(os.environ[FOLDER]) / ALERTS).open("a") as file:
        file.write(json.dumps(alert) + "\n")


@handler(SETTLE)
def settle_verdict(payload: Any, ctx: Context) -> dict[str, Any]:
    """Let what both analyses say stand, or else what a person has decided."""
    image, text, decision = payload["image"], payload["text"], payload["decision"]
    if decision is not None:
        return {"verdict": ALLOW if decision == APPROVE else BLOCK, "by": "a person"}
    if image != text or image == UNCLEAR:
        raise PermanentError(f"image says {image}, text says {text}, and nobody has decided")
    return {"verdict": image, "by": "both analyses"}
