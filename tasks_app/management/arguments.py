"""Readers of what is written behind an option; each refusal says what to give instead."""

from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any
from uuid import UUID

from tasks_app.core import literals
from tasks_app.core.bounds import LONGEST_SECONDS
from tasks_app.core.literals import NotReadable
from tasks_app.core.strict_json import JsonRefused, read_strict


def whole_number(lowest: int, highest: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers within these bounds."""
    bounds = f"{lowest} or more" if highest is None else f"from {lowest} to {highest}"

    def read(text: str) -> int:
        try:
            found = literals.whole_number(text)
        except NotReadable as error:
            message = f"{text[:80]!r}: give a whole number {bounds}, in plain decimal digits"
            raise ArgumentTypeError(message) from error
        if found < lowest or (highest is not None and found > highest):
            raise ArgumentTypeError(f"{text[:80]}: give a whole number {bounds}")
        return found

    return read


def seconds(text: str) -> float:
    """A number of seconds, 0 or more and at most a year, which no wait overflows at."""
    found = amount(text, "seconds")
    if found > LONGEST_SECONDS:
        raise ArgumentTypeError(
            f"{text[:80]}: give at most {LONGEST_SECONDS:,.0f} seconds (a year)"
        )
    return found


def amount(text: str, what: str = "a number") -> float:
    """A number, 0 or more."""
    message = f"{text[:80]!r}: give {what}, 0 or more, in plain decimal digits such as 1.5"
    try:
        found = literals.decimal_number(text)
    except NotReadable as error:
        raise ArgumentTypeError(message) from error
    if found < 0:
        raise ArgumentTypeError(message)
    return found


def task_id(text: str) -> UUID:
    """The id of a task."""
    try:
        return UUID(text)
    except ValueError as error:
        message = f"{text[:80]!r}: give the id of a task, as its page shows it"
        raise ArgumentTypeError(message) from error


def json_value(text: str) -> Any:
    """A JSON text."""
    try:
        return read_strict(text)
    except JsonRefused as refused:
        raise ArgumentTypeError(f'{refused.told}; give JSON, such as {{"id": 7}}') from refused
