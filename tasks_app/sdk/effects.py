"""Effects of a handler: done once, however many attempts the task takes.

The start is on record before the function is called and its result before the next attempt can
begin; what lies between the two is in doubt when a worker dies there, and nobody can know.
"""

import asyncio
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

from tasks_app.core.attempts.effects import (
    LONGEST_EFFECT_NAME,
    EffectVerdict,
    IfUnsure,
    proves_undone,
)
from tasks_app.core.sanitise import sanitise
from tasks_app.sdk.link import EffectStart, Link, LinkDown
from tasks_app.sdk.outage import Outage
from tasks_app.sdk.outcomes.errors import describe
from tasks_app.sdk.outcomes.raised import Cancelled, PermanentError, UnsureEffect

T = TypeVar("T")

logger: Final = logging.getLogger(__name__)


class EffectRecord(Protocol):
    """Where one attempt's effects stand; thread-safe. Each call may raise LinkDown."""

    def begin(self, name: str, if_unsure: IfUnsure) -> EffectStart:
        """Ask whether to do an effect; on RUN its start is on record."""
        ...

    def finish(self, name: str, result: Any) -> bool:
        """Record a sanitised result; False when the lease is lost."""
        ...

    def take_back(self, name: str) -> bool:
        """Forget a start after which nothing was done; False when the lease is lost."""
        ...


class LinkRecord:
    """The record of one lease, over a worker's link."""

    def __init__(self, link: Link, worker_id: UUID, task_id: UUID, token: int) -> None:
        self._link = link
        self._lease = (worker_id, task_id, token)

    def begin(self, name: str, if_unsure: IfUnsure) -> EffectStart:
        """Ask the control plane."""
        return self._link.begin_effect(*self._lease, name, if_unsure)

    def finish(self, name: str, result: Any) -> bool:
        """Tell the control plane."""
        return self._link.finish_effect(*self._lease, name, result)

    def take_back(self, name: str) -> bool:
        """Tell the control plane."""
        return self._link.take_back_effect(*self._lease, name)


class OwnRecord:
    """Lasts as long as its context: for a handler that is called without a worker, as in a test."""

    def __init__(self) -> None:
        self._results: dict[str, Any] = {}

    def begin(self, name: str, if_unsure: IfUnsure) -> EffectStart:
        """Look whether it is done."""
        if name in self._results:
            return EffectStart(EffectVerdict.RECORDED, result=self._results[name])
        return EffectStart(EffectVerdict.RUN)

    def finish(self, name: str, result: Any) -> bool:
        """Keep the result."""
        self._results[name] = result
        return True

    def take_back(self, name: str) -> bool:
        """Nothing was kept."""
        return True


class Effects:
    """Does the effects of one attempt. ``cancelled`` is set once the attempt should end."""

    def __init__(self, record: EffectRecord, cancelled: threading.Event) -> None:
        self._record = record
        self._cancelled = cancelled
        self._lock = threading.Lock()
        # Begun in this attempt, with no end on record: under way, or ended in doubt.
        self._open: set[str] = set()

    def once(self, name: str, function: Callable[[], Any], if_unsure: str) -> Any:
        """See ``Context.once``."""
        _refuse_loop()
        begun = self._begin(name, if_unsure)
        if begun.verdict is EffectVerdict.RECORDED:
            return begun.result
        try:
            result = sanitise(_called(function))
        except BaseException as error:
            self._ended_badly(name, error)
            raise
        self._finish(name, result)
        return result

    async def once_async(
        self, name: str, function: Callable[[], Awaitable[Any]], if_unsure: str
    ) -> Any:
        """See ``Context.once_async``."""
        try:
            begun = await _to_its_end(lambda: self._begin(name, if_unsure))
        except asyncio.CancelledError:
            await _to_its_end(lambda: self._never_called(name))
            raise
        if begun.verdict is EffectVerdict.RECORDED:
            return begun.result
        try:
            result = sanitise(await function())
        except BaseException as error:
            raised = error
            await _to_its_end(lambda: self._ended_badly(name, raised))
            raise
        await _to_its_end(lambda: self._finish(name, result))
        return result

    def _begin(self, name: str, if_unsure: str) -> EffectStart:
        """Return RUN or RECORDED; everything else is raised."""
        policy = _checked(name, if_unsure)
        if self._cancelled.is_set():
            raise Cancelled
        self._open_here(name, policy)
        try:
            begun = self._insist("begin_effect", lambda: self._record.begin(name, policy))
        except BaseException:
            self._close_here(name)
            raise
        if begun.verdict is not EffectVerdict.RUN:
            self._close_here(name)
        if begun.verdict is EffectVerdict.STALE:
            raise self._lease_lost(f"effect {name!r} is not begun")
        if begun.verdict is EffectVerdict.UNSURE:
            raise _unsure(name, f"an earlier attempt (token {begun.begun_under})")
        if begun.verdict is EffectVerdict.RUN and self._cancelled.is_set():
            self._never_called(name)
            raise Cancelled
        return begun

    def _open_here(self, name: str, policy: IfUnsure) -> None:
        """Note that this attempt is at it, unless it was before and the end is in doubt."""
        with self._lock:
            if name in self._open and policy is IfUnsure.FAIL:
                raise _unsure(name, "this same attempt")
            self._open.add(name)

    def _close_here(self, name: str) -> None:
        with self._lock:
            self._open.discard(name)

    def _never_called(self, name: str) -> None:
        """The attempt was cancelled between the start and the call: that leaves no doubt."""
        if name in self._open:
            self._take_back(name)

    def _ended_badly(self, name: str, error: BaseException) -> None:
        if proves_undone(describe(error)):
            self._take_back(name)

    def _take_back(self, name: str) -> None:
        # With the lease lost the start stays in doubt for whoever holds it now: the safe side.
        self._insist("take_back_effect", lambda: self._record.take_back(name))
        self._close_here(name)

    def _finish(self, name: str, result: Any) -> None:
        if not self._insist("finish_effect", lambda: self._record.finish(name, result)):
            raise self._lease_lost(f"effect {name!r} is done and cannot be recorded any more")
        self._close_here(name)

    def _lease_lost(self, consequence: str) -> Cancelled:
        logger.warning("the lease is lost: %s", consequence)
        self._cancelled.set()
        return Cancelled()

    def _insist(self, name: str, call: Callable[[], T]) -> T:
        """Repeat a call while the control plane cannot be reached and the attempt may go on."""
        outage = Outage(name)
        while True:
            try:
                answer = call()
            except LinkDown as error:
                if self._cancelled.wait(outage.failed(error)):
                    raise Cancelled from error
            else:
                outage.succeeded()
                return answer


def _unsure(name: str, beginner: str) -> UnsureEffect:
    return UnsureEffect(
        f"effect {name!r} was begun by {beginner} and its end is not on record, so it may have "
        "happened: find out, say so with settle-effect, then requeue the task"
    )


def _checked(name: str, if_unsure: str) -> IfUnsure:
    """The policy; raises PermanentError, for what is written wrongly is so at every attempt."""
    if if_unsure not in set(IfUnsure):
        raise PermanentError(f'if_unsure is "fail" or "run", not {if_unsure!r}')
    if not 0 < len(name) <= LONGEST_EFFECT_NAME or not name.isprintable():
        raise PermanentError(
            f"an effect's name has 1 to {LONGEST_EFFECT_NAME} printable characters, not {name!r}"
        )
    return IfUnsure(if_unsure)


def _called(function: Callable[[], Any]) -> Any:
    result = function()
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise PermanentError("once takes a plain function; for an async one await ctx.once_async")
    return result


def _refuse_loop() -> None:
    """The record may be a database that answers slowly: the loop has other tasks to serve."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise PermanentError("ctx.once would block the event loop; await ctx.once_async instead")


async def _to_its_end(call: Callable[[], T]) -> T:
    """Run a blocking call in a thread; a cancellation meanwhile is raised once it has ended.

    Left alone it could write its start after the attempt was reported as let go.
    """
    work = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if not work.done():
            await asyncio.wait([work])
        if not work.cancelled() and (error := work.exception()) is not None:
            raise error from None
        raise
