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

MOST_VALUES: Final = 50_000
"""Values that one page visits in order to hide some."""

MOST_SECRETS: Final = 2_000
"""Hidden values that are looked for in the texts of one page."""

MOST_CHARACTERS: Final = 50_000_000
"""Characters that are compared with hidden values for one page: each text with each of them."""

MOST_BEGINNINGS: Final = 16
"""Places at the end of a text that are tried as the beginning of one hidden value."""

_GONE: Final = "\0"
"""Stands for the mask while a text is searched: no stored text holds it."""

_CUT: Final = re.compile(r"\n\[cut: [0-9]+ characters\]\n")

Hidden = Mapping[str, frozenset[str]]
"""By kind, the keys (case-folded) whose values somebody may not see; empty for who may see all."""


def folded(keys: Iterable[str]) -> frozenset[str]:
    """Keys as they are compared: whatever their case.

    >>> sorted(folded(["Password", "IBAN"]))
    ['iban', 'password']
    """
    return frozenset(key.casefold() for key in keys)


class OverBudget(Exception):
    """There is more to look at than one page may look at: what it is about is hidden whole."""


class Budget:
    """What hiding may still cost one page: values visited, values hidden, characters compared.

    What is over it costs nothing, so that there is something left for what is shorter.
    """

    def __init__(
        self,
        values: int = MOST_VALUES,
        secrets: int = MOST_SECRETS,
        characters: int = MOST_CHARACTERS,
    ) -> None:
        self.values = values
        self.secrets = secrets
        self.characters = characters

    def visit(self, values: int = 1) -> None:
        """Look at so many values. Raises OverBudget."""
        if values > self.values:
            raise OverBudget
        self.values -= values

    def hide(self, characters: int) -> None:
        """Take up one hidden value of so many characters. Raises OverBudget."""
        self.compare(characters)
        if not self.secrets:
            raise OverBudget
        self.secrets -= 1

    def compare(self, characters: int) -> None:
        """Compare so many characters. Raises OverBudget."""
        if characters > self.characters:
            raise OverBudget
        self.characters -= characters


def masked(value: Any, keys: frozenset[str], budget: Budget | None = None) -> Any:
    """The JSON value with the values of these keys masked, at any depth; never deeper than it is.

    Raises OverBudget where there is a budget.

    >>> masked({"name": "Ada", "Card": {"no": 1}, "all": [{"card": 2}]}, folded(["card"]))
    {'name': 'Ada', 'Card': '[redacted]', 'all': [{'card': '[redacted]'}]}
    """
    if not keys:
        return value
    if isinstance(value, dict):
        if budget is not None:
            budget.visit(len(value))
        return {
            name: MASK if str(name).casefold() in keys else masked(each, keys, budget)
            for name, each in value.items()
        }
    if isinstance(value, list):
        if budget is not None:
            budget.visit(len(value))
        return [masked(each, keys, budget) for each in value]
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


def secrets_in(
    value: Any, keys: frozenset[str], budget: Budget | None = None, *, whole: bool = False
) -> frozenset[str]:
    """Every text and figure of at least four characters under these keys, as others write them.

    ``whole``: the value itself is hidden. Raises OverBudget where there is a budget.

    >>> sorted(secrets_in({"card": {"no": 41112222}, "to": "Ada", "all": [{"Card": "x"}]},
    ...                   folded(["card"])))
    ['41112222']
    """
    found: set[str] = set()
    for each in _under(value, keys, budget, inside=whole):
        text = each if isinstance(each, str) else json.dumps(each)
        if len(text) < SHORTEST_SECRET:
            continue
        if budget is not None:
            budget.hide(len(text))
        found.update(spelt for spelt in _spellings(text) if len(spelt) >= SHORTEST_SECRET)
    return frozenset(found)


def _under(
    value: Any, keys: frozenset[str], budget: Budget | None, *, inside: bool
) -> Iterator[Any]:
    if isinstance(value, dict | list) and budget is not None:
        budget.visit(len(value))
    if isinstance(value, dict):
        for name, each in value.items():
            hides = inside or str(name).casefold() in keys
            yield from _under(each, keys, budget, inside=hides)
    elif isinstance(value, list):
        for each in value:
            yield from _under(each, keys, budget, inside=inside)
    elif inside and not isinstance(value, bool) and value is not None:
        yield value


def _spellings(text: str) -> Iterator[str]:
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
    # The longest first: a value may stand within another.
    for secret in sorted((each for each in secrets if each in text), key=len, reverse=True):
        text = text.replace(secret, _GONE)
    if not whole:
        marks, pieces = _CUT.findall(text), _CUT.split(text)
        backwards = {each[::-1] for each in secrets} if marks else set()
        for at, piece in enumerate(pieces):
            tail = _halved_at_the_end(piece, secrets)
            shown = piece[: len(piece) - tail] + _GONE if tail else piece
            head = _halved_at_the_end(piece[::-1], backwards) if at else 0
            pieces[at] = _GONE + shown[head:] if head else shown
        text = "".join(part for pair in zip(pieces, [*marks, ""], strict=True) for part in pair)
    return text.replace(_GONE, MASK)


def _halved_at_the_end(text: str, secrets: Iterable[str]) -> int:
    """How many characters at the end of a text are the beginning of one of these values.

    A text that repeats that beginning is hidden from the last place that was tried.
    """
    longest = 0
    for secret in secrets:
        begins = secret[:SHORTEST_SECRET]
        at = text.find(begins, max(0, len(text) - len(secret) + 1))
        tried = 0
        while 0 <= at < len(text) - longest:
            tried += 1
            if tried > MOST_BEGINNINGS or secret.startswith(text[at:]):
                longest = len(text) - at
                break
            at = text.find(begins, at + 1)
    return longest
