"""Handlers that use the database and record effects, as ordinary ones do."""

from typing import Any

from django.db import connection

from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import handler
from tests.faults.handlers import pass_gate


@handler("ask")
def ask(payload: dict[str, Any], ctx: Context) -> int:
    """One query on the handler's own connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_sleep(0.01)")
        return len(cursor.fetchall())


@handler("both")
def both(payload: dict[str, Any], ctx: Context) -> Any:
    """The same and an effect, side by side with all the others."""
    pass_gate()
    ctx.once("effect", lambda: 1)
    return ask(payload, ctx)
