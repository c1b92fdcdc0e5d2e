"""Handlers: the functions that do the work of one kind, and how modules declare them."""

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.bounds import LONGEST_SECONDS
from tasks_app.core.dispatch.declarations import skill_fault
from tasks_app.core.intake.new_tasks import between
from tasks_app.sdk.context import Context
from tasks_app.sdk.outcomes.raised import PermanentError, RetryableError, UnsureEffect

# A module of handlers imports what it says from where it says @handler.
__all__ = [
    "LONGEST_KIND",
    "Handler",
    "HandlerError",
    "HandlerFunction",
    "PermanentError",
    "RetryableError",
    "UnsureEffect",
    "handler",
    "handler_of",
    "load_handlers",
]

HandlerFunction = Callable[[Any, Context], Any]

LONGEST_KIND: Final = 100
"""Characters; the width of the column that holds a kind's name."""

SHORTEST_TIMEOUT: Final = 0.001
"""Seconds."""


class HandlerError(Exception):
    """A handler is declared wrongly, or a module of handlers cannot be used."""


@dataclass(frozen=True, slots=True)
class Handler:
    """A declared handler, still callable as the plain function that it is.

    ``timeout`` in seconds, None for the kind's; ``permanent`` are the exceptions that no further
    attempt can cure.
    """

    kind: str
    function: HandlerFunction
    skill: float = 1.0
    timeout: float | None = None
    permanent: tuple[type[BaseException], ...] = ()
    is_async: bool = False

    def __call__(self, payload: Any, ctx: Context) -> Any:
        """Call the function itself, as a handler's own unit test does."""
        return self.function(payload, ctx)

    @property
    def place(self) -> str:
        """Where the function stands, for messages."""
        module = getattr(self.function, "__module__", "?")
        return f"{module}.{getattr(self.function, '__qualname__', repr(self.function))}"


def handler(
    kind: str,
    *,
    skill: float = 1.0,
    timeout: float | None = None,
    permanent: Sequence[type[BaseException]] = (),
) -> Callable[[HandlerFunction], Handler]:
    """Declare a plain or async function ``(payload, ctx)`` as the handler of a kind.

    Expected seconds = the task's estimate / ``skill``. Raises HandlerError for a bad declaration.
    """

    def declare(function: HandlerFunction) -> Handler:
        declared = Handler(
            kind=kind,
            function=function,
            skill=skill,
            timeout=timeout,
            permanent=tuple(permanent),
            is_async=_is_async(function),
        )
        fault = _fault_of(declared)
        if fault is not None:
            raise HandlerError(f"{declared.place}: {fault}")
        return declared

    return declare


def load_handlers(modules: Sequence[str]) -> Mapping[str, Handler]:
    """Import modules and collect the handlers that they define or import, by kind.

    Raises HandlerError for a module that is missing or has none, and for a kind declared twice.
    """
    found: dict[str, Handler] = {}
    for name in modules:
        declared = [value for value in _namespace(name).values() if isinstance(value, Handler)]
        if not declared:
            raise HandlerError(
                f"module {name!r} declares no handler: "
                'put @handler("some_kind") on a function (payload, ctx)'
            )
        for one in declared:
            other = found.setdefault(one.kind, one)
            if other is not one:
                raise HandlerError(
                    f"kind {one.kind!r} has two handlers: {other.place} and {one.place}"
                )
    return found


def handler_of(handlers: Mapping[str, Handler], kind: str) -> Handler:
    """The handler of a kind, or one that fails so that the task is tried elsewhere."""
    return handlers.get(kind) or Handler(kind, _missing)


def _missing(_payload: Any, ctx: Context) -> Any:
    raise RetryableError(f"this worker has no handler for kind {ctx.kind!r}")


def _namespace(module: str) -> Mapping[str, Any]:
    try:
        return vars(importlib.import_module(module))
    except ImportError as error:
        raise HandlerError(f"cannot import module {module!r}: {error}") from error


def _is_async(function: HandlerFunction) -> bool:
    """Tell async functions and objects with an async ``__call__``."""
    call = getattr(function, "__call__", None)  # noqa: B004  # the method itself is wanted
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _fault_of(declared: Handler) -> str | None:
    """What is wrong with a declaration, as a sentence; None where nothing is.

    Handler modules need not be type-checked, so the types are checked too.
    """
    kind: object = declared.kind
    timeout: object = declared.timeout
    permanent: Sequence[object] = declared.permanent
    if not isinstance(kind, str) or not kind.strip() or "\0" in kind:
        return "a kind is a name such as 'classify_ticket'; write @handler(\"classify_ticket\")"
    if len(kind) > LONGEST_KIND:
        return f"the kind's name has {len(kind)} characters; {LONGEST_KIND} are allowed"
    if message := skill_fault(declared.skill):
        return f"skill must be a number above 0; it {message}"
    if timeout is not None and not between(timeout, SHORTEST_TIMEOUT, LONGEST_SECONDS):
        return (
            f"timeout must be seconds above 0, from {SHORTEST_TIMEOUT:g} to "
            f"{LONGEST_SECONDS:,.0f} (a year), or None for the kind's, not {timeout!r}"
        )
    for cls in permanent:
        if not (isinstance(cls, type) and issubclass(cls, BaseException)):
            return f"permanent must list exception classes, not {cls!r}"
    return _signature_fault(declared.function)


def _signature_fault(function: HandlerFunction) -> str | None:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return "a handler returns its result; this one yields"
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return "a handler takes two arguments, (payload, ctx)"
    except ValueError:
        # Some functions written in C tell no signature; calling them shows.
        return None
    return None
