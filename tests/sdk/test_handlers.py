"""Declaring handlers and collecting them from modules."""

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import Handler, HandlerError, RetryableError, handler, load_handlers

Module = Callable[..., str]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Module:
    """Put a module with some contents where imports find it."""

    def make(name: str, **contents: Any) -> str:
        made = types.ModuleType(name)
        vars(made).update(contents)
        monkeypatch.setitem(sys.modules, name, made)
        return name

    return make


def plain(payload: Any, ctx: Context) -> Any:
    return payload


def other(payload: Any, ctx: Context) -> Any:
    return None


async def asynchronous(payload: Any, ctx: Context) -> Any:
    return payload


class Callable_:  # noqa: N801  stands for a user's class of any name
    async def __call__(self, payload: Any, ctx: Context) -> Any:
        return payload


def test_declared_handler_is_still_the_function() -> None:
    declared = handler("echo", skill=2, timeout=60)(plain)
    assert declared({"a": 1}, Context(uuid4())) == {"a": 1}
    assert (declared.kind, declared.skill, declared.timeout) == ("echo", 2, 60)


def test_async_functions_and_callables_are_told_apart() -> None:
    assert handler("a")(asynchronous).is_async
    assert handler("a")(Callable_()).is_async
    assert not handler("a")(plain).is_async


@pytest.mark.parametrize("skill", [0, -1, float("nan"), float("inf"), "1", True, None])
def test_skill_must_be_a_positive_number(skill: Any) -> None:
    with pytest.raises(HandlerError, match=r"test_handlers\.plain: skill must be a number above 0"):
        handler("echo", skill=skill)(plain)


@pytest.mark.parametrize("timeout", [0, -5, float("inf"), "60"])
def test_timeout_must_be_positive_seconds(timeout: Any) -> None:
    with pytest.raises(HandlerError, match="timeout must be seconds above 0"):
        handler("echo", timeout=timeout)(plain)


@pytest.mark.parametrize("kind", ["", "  ", "a\0b", 7])
def test_kind_must_be_a_name(kind: Any) -> None:
    with pytest.raises(HandlerError, match="a kind is a name"):
        handler(kind)(plain)


def test_kind_longer_than_its_column_is_refused() -> None:
    with pytest.raises(HandlerError, match="101 characters"):
        handler("k" * 101)(plain)


def test_decorator_without_a_kind_says_how_it_is_written() -> None:
    with pytest.raises(HandlerError, match='write @handler\\("classify_ticket"\\)'):
        handler(plain)(plain)  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.parametrize("wrong", [lambda: None, lambda payload: None, lambda a, b, c: None])
def test_function_with_other_arguments_is_refused(wrong: Any) -> None:
    with pytest.raises(HandlerError, match=r"two arguments, \(payload, ctx\)"):
        handler("echo")(wrong)


def test_generator_is_refused() -> None:
    def yielding(payload: Any, ctx: Context) -> Iterator[int]:
        yield 1

    with pytest.raises(HandlerError, match="this one yields"):
        handler("echo")(yielding)


def test_permanent_must_list_exception_classes() -> None:
    with pytest.raises(HandlerError, match="permanent must list exception classes"):
        handler("echo", permanent=["KeyError"])(plain)  # type: ignore[list-item]  # under test


def test_handlers_of_several_modules_are_collected(module: Module) -> None:
    first = module("made_one", a=handler("a")(plain), not_a_handler=plain)
    second = module("made_two", b=handler("b", skill=3)(other))
    assert {kind: one.skill for kind, one in load_handlers([first, second]).items()} == {
        "a": 1.0,
        "b": 3,
    }


def test_handler_imported_into_a_second_module_is_no_duplicate(module: Module) -> None:
    shared = handler("a")(plain)
    names = [module("made_one", a=shared), module("made_two", again=shared)]
    assert load_handlers(names) == {"a": shared}


def test_kind_declared_twice_names_both_places(module: Module) -> None:
    names = [
        module("made_one", a=handler("a")(plain)),
        module("made_two", a=handler("a")(other)),
    ]
    with pytest.raises(HandlerError, match=r"two handlers: .*\.plain and .*\.other"):
        load_handlers(names)


def test_missing_module_is_named() -> None:
    with pytest.raises(HandlerError, match="cannot import module 'no_such_module'"):
        load_handlers(["no_such_module"])


def test_module_without_handlers_says_what_to_do(module: Module) -> None:
    with pytest.raises(HandlerError, match="'made_empty' declares no handler: put @handler"):
        load_handlers([module("made_empty")])


def test_retry_after_travels_on_the_error() -> None:
    assert RetryableError("busy", retry_after=3.5).retry_after == 3.5
    assert isinstance(handler("a")(plain), Handler)
