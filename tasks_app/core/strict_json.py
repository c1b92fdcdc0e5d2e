"""JSON from outside, read by one rule at every door: no key twice, no NaN, no depth without end."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

from tasks_app.core.words import say

LOOKED_THROUGH: Final = 4 * 1024 * 1024
"""Characters that are looked through for the line of a key; more would cost whoever answers."""

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', re.DOTALL)


class JsonRefused(ValueError):
    """A text that is not read as JSON: ``place`` says where, the message why."""

    def __init__(self, place: str, message: str) -> None:
        self.place = place
        super().__init__(message)

    @property
    def told(self) -> str:
        """The place, where there is one, and the message."""
        return (
            say("%(place)s: %(why)s", place=self.place, why=str(self)) if self.place else str(self)
        )


def _no_number(name: str) -> NoReturn:
    raise JsonRefused("", say("%(name)s is no JSON number", name=name))


def read_strict(
    text: str | bytes, constants: Callable[[str], Any] = _no_number, first_line: int = 1
) -> Any:
    """Read JSON as RFC 8259 and I-JSON have it; bytes are UTF-8. Raises JsonRefused.

    ``constants`` reads NaN and Infinity, for who names their place later. ``first_line`` is the
    line of a larger text at which this one begins: places count the lines of the larger text.

    >>> read_strict(b'{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    >>> try:
    ...     read_strict('{"a": 1,\\n "a": 2}')
    ... except JsonRefused as refused:
    ...     print(refused.place, "|", refused)
    line 2 | the key "a" stands twice in one object, first on line 1
    """
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8-sig")
        return json.loads(decoded, parse_constant=constants, object_pairs_hook=_object)
    except _KeyTwice as twice:
        raise _named(decoded, twice.key, first_line) from twice
    except json.JSONDecodeError as error:
        place = f"line {error.lineno + first_line - 1} column {error.colno}"
        raise JsonRefused(place, say("no valid JSON: %(msg)s", msg=error.msg)) from error
    except UnicodeDecodeError as error:
        raise JsonRefused(f"byte {error.start}", say("no valid UTF-8")) from error
    except RecursionError as error:
        raise JsonRefused("", say("JSON that is nested too deep")) from error
    except JsonRefused:
        raise
    except ValueError as error:
        # The only one left: Python reads no integer of more than 4,300 digits.
        raise JsonRefused("", say("an integer beyond the range of a double")) from error


class _KeyTwice(Exception):
    def __init__(self, key: str) -> None:
        self.key = key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _KeyTwice(key)
            seen.add(key)
    return made


def _named(text: str, key: str, first_line: int) -> JsonRefused:
    """The refusal of a key that stands twice; the first one in the text's order is told."""
    # The reader tells no places: they are looked for only where there is one to tell.
    found = next(_keys_twice(text), None) if len(text) <= LOOKED_THROUGH else None
    if found is None:
        return JsonRefused("", say("the key %(key)s stands twice in one object", key=_quoted(key)))
    name, first, second = found
    message = say(
        "the key %(key)s stands twice in one object, first on line %(line)s",
        key=_quoted(name),
        line=first + first_line - 1,
    )
    return JsonRefused(f"line {second + first_line - 1}", message)


def _quoted(key: str) -> str:
    return json.dumps(key[:100])


def _keys_twice(text: str) -> Iterator[tuple[str, int, int]]:
    """Each key that repeats one of its own object: the key, the line of the first and of this."""
    levels: list[dict[str, int] | None] = []
    last, line, counted = "", 1, 0
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in ("{", "["):
            levels.append({} if sign == "{" else None)
        elif sign in ("}", "]"):
            levels.pop()
        elif sign == ":" and (keys := levels[-1]) is not None:
            line, counted = line + text.count("\n", counted, token.start()), token.start()
            key = json.loads(last)
            if key in keys:
                yield key, keys[key], line
            keys[key] = line
        last = sign
