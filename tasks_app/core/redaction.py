"""Which keys of a kind's JSON are shown only to some, and JSON without their values."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

MASK: Final = "[redacted]"
"""What stands in the place of a value that must not be shown."""

SHORTEST_SECRET: Final = 4
"""Characters. What is shorter stands in any text by chance, and is left in it."""

SHORTEST_CUT: Final = 200
"""Characters. A shorter text is whole; a longer one may end within a value."""

_CUT: Final = re.compile(r"\n\[cut: [0-9]+ characters\]\n")

Hidden = Mapping[str, frozenset[str]]
"""By kind, the keys (case-folded) whose values somebody may not see; empty for who may see all."""


def folded(keys: Iterable[str]) -> frozenset[str]:
    """Keys as they are compared: whatever their case.

    >>> sorted(folded(["Password", "IBAN"]))
    ['iban', 'password']
    """
    return frozenset(key.casefold() for key in keys)


def masked(value: Any, keys: frozenset[str]) -> Any:
    """The JSON value with the values of these keys masked, at any depth; never deeper than it is.

    >>> masked({"name": "Ada", "Card": {"no": 1}, "all": [{"card": 2}]}, folded(["card"]))
    {'name': 'Ada', 'Card': '[redacted]', 'all': [{'card': '[redacted]'}]}
    """
    if not keys:
        return value
    if isinstance(value, dict):
        return {
            name: MASK if str(name).casefold() in keys else masked(each, keys)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [masked(each, keys) for each in value]
    return value


def kinds_that_hide(hidden: Hidden) -> list[str]:
    """The kinds that hide anything."""
    return sorted(kind for kind, keys in hidden.items() if keys)


def kinds_that_hide_path(hidden: Hidden, path: tuple[str, ...]) -> list[str]:
    """The kinds in which a value at this path may not be compared with a guess.

    >>> kinds_that_hide_path({"pay": folded(["card"])}, ("Card", "no"))
    ['pay']
    """
    keys = folded(path)
    return sorted(kind for kind, hides in hidden.items() if hides & keys)


def secrets_in(value: Any, keys: frozenset[str]) -> frozenset[str]:
    """Every text and figure of at least four characters under these keys, as others write them.

    >>> sorted(secrets_in({"card": {"no": 41112222}, "to": "Ada", "all": [{"Card": "x"}]},
    ...                   folded(["card"])))
    ['41112222']
    """
    return frozenset(
        spelt
        for each in _under(value, keys)
        for spelt in _spellings(each)
        if len(spelt) >= SHORTEST_SECRET
    )


def _under(value: Any, keys: frozenset[str], inside: bool = False) -> Iterator[Any]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _under(each, keys, inside or str(name).casefold() in keys)
    elif isinstance(value, list):
        for each in value:
            yield from _under(each, keys, inside)
    elif inside and not isinstance(value, bool) and value is not None:
        yield value


def _spellings(value: Any) -> Iterator[str]:
    text = value if isinstance(value, str) else json.dumps(value)
    yield text
    yield text.strip()
    # Within a JSON text, a Python literal and an address; a traceback shows line by line.
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield repr(text)[1:-1]
    yield quote(text, safe="", errors="replace")
    yield from (line.strip() for line in text.splitlines())


def without(text: str, secrets: frozenset[str]) -> str:
    r"""The text with the mask in the place of each of these values, and of one that a cut halved.

    >>> without("cannot charge 41112222 of Ada", frozenset(["41112222"]))
    'cannot charge [redacted] of Ada'
    """
    whole = len(text) < SHORTEST_CUT
    found = [secret for secret in secrets if secret in text]
    if found:
        # The longest first: a value may stand within another.
        longest_first = sorted(found, key=len, reverse=True)
        text = re.sub("|".join(map(re.escape, longest_first)), MASK, text)
    if whole:
        return text
    marks, pieces = _CUT.findall(text), _CUT.split(text)
    for at, piece in enumerate(pieces):
        tail = _halved_at_the_end(piece, secrets)
        shown = piece[: len(piece) - tail] + MASK if tail else piece
        head = _halved_at_the_end(piece[::-1], {each[::-1] for each in secrets}) if at else 0
        pieces[at] = MASK + shown[head:] if head else shown
    return "".join(part for pair in zip(pieces, [*marks, ""], strict=True) for part in pair)


def _halved_at_the_end(text: str, secrets: Iterable[str]) -> int:
    """How many characters at the end of a text are the beginning of one of these values."""
    longest = 0
    for secret in secrets:
        begins = secret[:SHORTEST_SECRET]
        at = text.find(begins, max(0, len(text) - len(secret) + 1))
        while 0 <= at < len(text) - longest:
            if secret.startswith(text[at:]):
                longest = len(text) - at
                break
            at = text.find(begins, at + 1)
    return longest
