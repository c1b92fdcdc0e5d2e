"""Paths of a query into a payload or result: ``payload.customer."Ticket ID"``.

A key of letters, digits, ``_`` and ``-`` stands as it is; any other is put in quotes, in which a
backslash keeps the next character from ending them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

_PLAIN: Final = re.compile(r"[\w-]+")
_STEP: Final = r'\.(?:"(?:[^"\\]|\\.)*"|[\w-]*)'
NAME: Final = re.compile(rf"[^\W\d_][\w-]*(?:{_STEP})*(?=:)", re.DOTALL)
"""A field with or without a path, up to the colon; an empty step is matched, and told of later."""

LOST: Final = re.compile(r"(payload|result)\.\S", re.IGNORECASE)
"""How a path begins; where ``NAME`` does not match it, it is a path that was written wrongly."""

_STEPS: Final = re.compile(_STEP, re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


def written_path(field: str, keys: Sequence[str]) -> str:
    r"""A field with its path, each key in quotes where it needs them.

    >>> print(written_path("payload", ["customer", "Ticket ID", 'say "x"']))
    payload.customer."Ticket ID"."say \"x\""
    """
    return ".".join([field, *map(_written, keys)])


def _written(key: str) -> str:
    if _PLAIN.fullmatch(key):
        return key
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def split_name(name: str) -> tuple[str, tuple[str, ...]]:
    """What ``NAME`` matched: the field, and its keys as they are written.

    >>> split_name('payload.a."b.c"')
    ('payload', ('a', '"b.c"'))
    """
    field = name.partition(".")[0]
    return field, tuple(step[1:] for step in _STEPS.findall(name, len(field)))


def key_of(step: str) -> str:
    r"""The key that a step of a path names.

    >>> key_of('"b.c"'), key_of("b"), key_of(r'"\\"')
    ('b.c', 'b', '\\')
    """
    return _ESCAPED.sub(r"\1", step[1:-1]) if step.startswith('"') else step


def read_path(text: str) -> tuple[str, ...] | None:
    """The keys of a whole path with its field, or None for what is no path.

    >>> read_path('payload.customer."Ticket ID"'), read_path("payload"), read_path("payload.$ref")
    (('customer', 'Ticket ID'), None, None)
    """
    named = NAME.match(f"{text}:")
    steps = split_name(text)[1] if named and named.end() == len(text) else ()
    return tuple(map(key_of, steps)) if steps and all(steps) else None


def guessed_path(text: str) -> str:
    """What somebody who wrote no valid path may have meant: each part between full stops a key.

    >>> print(guessed_path("payload.Ticket ID"), guessed_path('payload."a".$ref'))
    payload."Ticket ID" payload.a."$ref"
    """
    field, _, rest = text.partition(".")
    return written_path(
        field, [part.strip().strip('"') for part in rest.split(".") if part.strip()]
    )


def without_quotes(text: str) -> str:
    """A path for a comparison with what somebody types who does not know of the quotes."""
    return text.replace('"', "").replace("\\", "")


def outside_quotes(text: str) -> Iterator[tuple[int, str]]:
    r"""Each character that is in no quotation, with its place; one that is not closed is one too.

    >>> [sign for _, sign in outside_quotes(r'a"b\"c"d"e')]
    ['a', 'd']
    """
    at, quoting = 0, False
    while at < len(text):
        sign = text[at]
        if sign == '"':
            quoting = not quoting
        elif sign == "\\" and quoting:
            at += 1
        elif not quoting:
            yield at, sign
        at += 1
