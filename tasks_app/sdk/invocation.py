"""Calling a handler: every way it can end becomes an outcome, in this process or in a child."""

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any

from tasks_app.core.sanitise import sanitise
from tasks_app.sdk.context import Cancelled, Context
from tasks_app.sdk.handlers import Handler
from tasks_app.sdk.outcomes.errors import describe
from tasks_app.sdk.outcomes.outcomes import Done, Outcome, Raised, Stopped
from tasks_app.sdk.outcomes.raised import Abandoned
from tasks_app.sdk.outcomes.symptoms import lost_a_program, ran_out_of_memory


def invoke(
    handler: Handler,
    payload: Any,
    context: Context,
    before: Callable[[], object] | None = None,
    after: Callable[[], object] | None = None,
) -> Outcome:
    """Call ``before``, run a plain handler to its end, and call ``after``.

    In a copy of the thread's context variables, as asyncio does for each async handler: what one
    handler sets (a language, a time zone) is not there for the next task of its thread.
    """
    return contextvars.copy_context().run(_invoke, handler, payload, context, before, after)


def _invoke(
    handler: Handler,
    payload: Any,
    context: Context,
    before: Callable[[], object] | None,
    after: Callable[[], object] | None,
) -> Outcome:
    try:
        if before is not None:
            before()
        try:
            return Done(sanitise(handler.function(payload, context)))
        finally:
            if after is not None:
                after()
    except BaseException as error:  # noqa: BLE001  SystemExit too is only this attempt's failure
        return _outcome_of(error, handler, context)


async def invoke_async(
    handler: Handler, payload: Any, context: Context, before: Callable[[], object] | None = None
) -> Outcome:
    """Call ``before`` and run an async handler to its end.

    It never raises, for SystemExit would end the whole loop.
    """
    try:
        if before is not None:
            before()
        return Done(sanitise(await handler.function(payload, context)))
    except BaseException as error:  # noqa: BLE001  see above
        return _outcome_of(error, handler, context)


def _outcome_of(error: BaseException, handler: Handler, context: Context) -> Outcome:
    """A cancellation that nobody asked for is an error like any other.

    One that stopped without being asked to has nothing reported, so that its lease is not named.
    """
    if isinstance(error, Abandoned):
        return Stopped()
    if context.cancelled and isinstance(error, Cancelled | asyncio.CancelledError):
        return Stopped()
    return Raised(
        describe(error, handler.permanent),
        out_of_memory=ran_out_of_memory(error),
        lost_program=lost_a_program(error),
    )
