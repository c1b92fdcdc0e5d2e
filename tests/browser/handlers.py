"""Handlers for tests in the browser: their manners are files in the test's own folder."""

import os
import time
from pathlib import Path
from typing import Any

from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import PermanentError, handler

FOLDER = "CHARGEHAND_BROWSER_FOLDER"


@handler("mend")
def mend(payload: dict[str, Any], ctx: Context) -> str:
    """Fail for good while the file ``broken`` is there."""
    if (Path(os.environ[FOLDER]) / "broken").exists():
        raise PermanentError("the part is broken")
    return "mended"


@handler("tell")
def tell(payload: dict[str, Any], ctx: Context) -> None:
    """Say something, go on once the test has seen enough, and say something more."""
    ctx.log.info("opened %s", payload["n"])
    while not (Path(os.environ[FOLDER]) / "enough").exists():
        time.sleep(0.02)
    ctx.log.warning("closed with <b>nothing</b> left")


@handler("seed")
def seed(payload: dict[str, Any], ctx: Context) -> None:
    """Take as long as the payload says, or until the test has seen enough."""
    until = time.monotonic() + payload["seconds"]
    while time.monotonic() < until and not (Path(os.environ[FOLDER]) / "enough").exists():
        time.sleep(0.02)
